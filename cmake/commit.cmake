# SPDX-License-Identifier: Apache-2.0
# Writes `output`: the commit of the source in `source`, where it is a repository.
execute_process(COMMAND git -C ${source} describe --always --dirty --exclude=* OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(WRITE ${output} "#include \"cli/kit/commit.hpp\"\n"
                     "const char* const fanin::cli::source_commit = \"${commit}\";\n")
