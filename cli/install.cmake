# SPDX-License-Identifier: Apache-2.0
# Installs the command, and the completion scripts and the manual page that the built command prints.

include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME command)
install(TARGETS fanin_tool)

# fanin_install_output(file directory argument...) installs the output of `fanin argument...` as directory/file.
function(fanin_install_output file directory)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${file})
  add_custom_command(OUTPUT ${output} COMMAND fanin_tool ${ARGN} > ${output} DEPENDS fanin_tool VERBATIM)
  set_property(GLOBAL APPEND PROPERTY fanin_tool_outputs ${output})
  install(FILES ${output} DESTINATION ${CMAKE_INSTALL_DATADIR}/${directory})
endfunction()

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/generated)
fanin_install_output(fanin bash-completion/completions completion bash)
fanin_install_output(_fanin zsh/site-functions completion zsh)
fanin_install_output(fanin.fish fish/vendor_completions.d completion fish)
fanin_install_output(fanin.1 man/man1 manpage)

get_property(outputs GLOBAL PROPERTY fanin_tool_outputs)
add_custom_target(fanin_tool_outputs ALL DEPENDS ${outputs})
