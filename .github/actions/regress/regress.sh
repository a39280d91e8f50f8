#!/bin/sh
# Runs `fanin regress` and writes its table into the summary of the job and into one comment of the pull request, which
# later runs replace. The exit status is that of `fanin regress`.
set -u
marker='<!-- fanin regress -->'
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
touch "$folder/table"
eval "set -- $ARGUMENTS"
"$FANIN" regress "$@" --export-markdown "$folder/table" 2>"$folder/error"
status=$?
cat "$folder/error" >&2
case $status in
  0) verdict='No case is slower.' ;;
  3) verdict='A case is **slower**.' ;;
  4) verdict='Undecided: no case is surely slower.'
     if grep -q '^VOID: ' "$folder/table"; then verdict='Void: a control moved, so no verdict holds.'; fi ;;
  *) verdict='The comparison failed.' ;;
esac
{
  printf '%s\n### fanin regress: %s\n\n' "$marker" "$verdict"
  cat "$folder/table"
  [ "$status" -le 4 ] && [ -s "$folder/table" ] || { echo '```'; cat "$folder/error"; echo '```'; }
} >"$folder/comment"
cat "$folder/comment" >>"$GITHUB_STEP_SUMMARY"
echo "status=$status" >>"$GITHUB_OUTPUT"

comment() {
  comments=repos/$GITHUB_REPOSITORY/issues
  id=$(gh api "$comments/$PULL_REQUEST/comments" --paginate \
    --jq ".[] | select(.body | startswith(\"$marker\")) | .id") || return
  id=$(echo "$id" | head -n 1)
  if [ -n "$id" ]; then
    gh api --method PATCH "$comments/comments/$id" --field "body=@$folder/comment"
  else
    gh api "$comments/$PULL_REQUEST/comments" --field "body=@$folder/comment"
  fi >/dev/null
}
if [ -n "${PULL_REQUEST:-}" ] && [ -n "${GH_TOKEN:-}" ]; then
  comment || echo '::warning::fanin regress could not write its comment'
fi
exit $status
