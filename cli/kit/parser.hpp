// SPDX-License-Identifier: Apache-2.0
// CLI11, the parser of command lines. No other file of the command includes CLI11, which takes long to compile:
// headers declare its classes.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
