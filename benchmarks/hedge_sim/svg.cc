#include "hedge_sim/svg.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace weft::hedge_sim {
namespace {

constexpr double kLeft = 60;
constexpr double kRight = 560;
constexpr double kTop = 40;
constexpr double kBottom = 360;
constexpr double kMostRatio = 1.2;
constexpr double kLeastLoad = 0.45;
constexpr double kMostLoad = 1;
constexpr const char* kColours[kCauses] = {"#777777", "#d1495b", "#00798c",
                                           "#8a5a00", "#5b3fa0", "#2e7d32"};
constexpr const char* kMeanings[kCauses] = {
    "T0 none", "T1 slow attempts", "T2 pauses", "T3 a slow host", "T4 stalls", "T5 slow requests"};

double X(double load) {
  return kLeft + (load - kLeastLoad) / (kMostLoad - kLeastLoad) * (kRight - kLeft);
}
double Y(double ratio) {
  return kBottom - std::clamp(ratio, 0.0, kMostRatio) / kMostRatio * (kBottom - kTop);
}

void AppendText(std::string* svg, double x, double y, const char* anchor, const char* colour,
                const std::string& text) {
  *svg += absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n",
                          x, y, anchor, colour, text);
}

void AppendAxes(std::string* svg) {
  for (int tenth = 0; tenth <= 12; tenth += 2) {
    const double y = Y(tenth / 10.0);
    *svg +=
        absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
                        kLeft, y, kRight, y, tenth == 10 ? "#555555" : "#dddddd");
    AppendText(svg, kLeft - 8, y + 4, "end", "#333333", absl::StrFormat("%.1f", tenth / 10.0));
  }
  for (const double load : kLoads)
    AppendText(svg, X(load), kBottom + 20, "middle", "#333333",
               absl::StrFormat("%.0f %%", load * 100));
  AppendText(svg, kLeft, kTop - 16, "start", "#111111",
             "p99.9 with hedging ÷ without, by load; rings: the goals");
}

void AppendCause(std::string* svg, const std::vector<Cell>& cells, size_t cause) {
  std::string points;
  const char* colour = kColours[cause];
  for (const Cell& cell : cells) {
    if (static_cast<size_t>(cell.cause) != cause) continue;
    const double x = X(cell.load);
    const double y = Y(cell.p999_ratio.mean());
    points += absl::StrFormat("%.1f,%.1f ", x, y);
    *svg +=
        absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x, y, colour);
    *svg += absl::StrFormat(
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"none\" stroke=\"%s\" opacity=\"0.5\"/>\n",
        x, Y(cell.Target()), colour);
  }
  if (points.empty()) return;
  *svg += absl::StrFormat(
      "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points, colour);
  AppendText(svg, kRight + 14, kTop + 20 + 22 * static_cast<double>(cause), "start", colour,
             kMeanings[cause]);
}

}  // namespace

std::string PlotRatios(const std::vector<Cell>& cells) {
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"400\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"720\" height=\"400\" fill=\"#ffffff\"/>\n";
  AppendAxes(&svg);
  for (size_t cause = 0; cause < kCauses; ++cause) AppendCause(&svg, cells, cause);
  return svg + "</svg>\n";
}

}  // namespace weft::hedge_sim
