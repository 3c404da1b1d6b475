// Deprecated: include <overdub/inference/dense_metric.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/dense_metric.hpp>
