# SPDX-License-Identifier: BSD-3-Clause
# cmake -DPREFIX=/usr/local -P uninstall.cmake: removes the files on the list that the
# installation has left in the prefix, and folders that are then empty, the prefix among them;
# below /usr and /usr/local not those that other programs share. $DESTDIR is honoured. What is not
# on the list stays.
# -DLIBDIR=lib64 names the folder of libraries where more than one has a list.
get_filename_component(PREFIX "${PREFIX}" ABSOLUTE)
set(root "$ENV{DESTDIR}${PREFIX}")
set(list "tombolo/install_manifest.txt")
if(NOT LIBDIR) # lib, lib64 or Debian's lib/x86_64-linux-gnu
  file(GLOB found RELATIVE "${root}" "${root}/lib*/${list}" "${root}/lib*/*/${list}")
  list(APPEND found "lib/${list}")
  list(GET found 0 first)
  string(REPLACE "/${list}" "" LIBDIR "${first}")
endif()
set(manifest "${root}/${LIBDIR}/${list}")
if(NOT EXISTS "${manifest}")
  message(FATAL_ERROR "PREFIX=${PREFIX}: there is no ${manifest}, so nothing is removed; give the "
    "PREFIX of the installation: make uninstall PREFIX=...")
endif()

# Folders that stay in a prefix of the system, also when they are empty.
set(shared "^(bin|include|lib(exec|64)?|${LIBDIR}|${LIBDIR}/(pkgconfig|cmake)|share")
string(APPEND shared "|share/(man|doc)")
string(APPEND shared "|share/man/man[0-9]|share/(bash-completion|zsh|fish)(/.*)?")
string(APPEND shared "|${LIBDIR}/python[0-9.]+(/(site|dist)-packages)?)$")

if(NOT PREFIX MATCHES "^/usr(/local)?$")
  set(shared "^$") # matches no folder of the list
  set(own_prefix TRUE)
endif()

set(count 0)
set(kept 0)
set(folders "")
file(STRINGS "${manifest}" files)
foreach(path IN LISTS files)
  if(path MATCHES "^/|(^|/)\\.\\.(/|$)")
    message(FATAL_ERROR "${manifest}: \"${path}\" is not a path below the prefix; nothing more is "
      "removed; correct or delete that line")
  endif()
  set(file "${root}/${path}")
  if(IS_DIRECTORY "${file}" AND NOT IS_SYMLINK "${file}")
    message(WARNING "${file} is a folder now: it stays")
    math(EXPR kept "${kept} + 1")
  elseif(EXISTS "${file}" OR IS_SYMLINK "${file}")
    file(REMOVE "${file}")
    math(EXPR count "${count} + 1")
  endif()
  get_filename_component(folder "${path}" DIRECTORY)
  if(path MATCHES "\\.py$") # Python keeps compiled forms beside its files
    get_filename_component(name "${path}" NAME_WE)
    file(GLOB compiled "${root}/${folder}/__pycache__/${name}.cpython-*.pyc")
    if(compiled)
      file(REMOVE ${compiled})
    endif()
    list(APPEND folders "${folder}/__pycache__")
  endif()
  while(folder)
    list(APPEND folders "${folder}")
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
endforeach()

# The deepest first: behind all that begin with the same letters.
list(SORT folders ORDER DESCENDING)
list(REMOVE_DUPLICATES folders)
foreach(folder IN LISTS folders)
  if(folder MATCHES "${shared}" OR IS_SYMLINK "${root}/${folder}")
    continue()
  endif()
  file(GLOB inside LIST_DIRECTORIES true "${root}/${folder}/*" "${root}/${folder}/.[!.]*")
  if(IS_DIRECTORY "${root}/${folder}" AND NOT inside)
    file(REMOVE_RECURSE "${root}/${folder}")
  endif()
endforeach()
file(GLOB inside LIST_DIRECTORIES true "${root}/*" "${root}/.[!.]*")
if(own_prefix AND NOT inside AND NOT IS_SYMLINK "${root}")
  file(REMOVE_RECURSE "${root}")
endif()
message(STATUS "removed ${count} files from ${root}")
