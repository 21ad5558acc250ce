#include "balance_sim/svg.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace weft::balance_sim {
namespace {

constexpr double kLeft = 60;
constexpr double kRight = 520;
constexpr double kTop = 40;
constexpr double kBottom = 360;
constexpr double kMostMillis = 600;
constexpr const char* kColours[] = {"#999999", "#555555", "#8a5a00", "#d1495b",
                                    "#5b3fa0", "#8d6cc9", "#b9a3e3", "#d9a0c8",
                                    "#00798c", "#2e7d32", "#e08e0b", "#111111"};

double X(double clients) {
  return kLeft + 20 + (std::log10(clients) - 1) / (std::log10(2000) - 1) * (kRight - kLeft - 40);
}
double Y(double millis) {
  return kBottom - std::clamp(millis, 0.0, kMostMillis) / kMostMillis * (kBottom - kTop);
}

void AppendText(std::string* svg, double x, double y, const char* anchor, const char* colour,
                const std::string& text) {
  *svg += absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n",
                          x, y, anchor, colour, text);
}

void AppendAxes(std::string* svg) {
  for (int millis = 0; millis <= 600; millis += 100) {
    const double y = Y(millis);
    *svg += absl::StrFormat(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", kLeft, y,
        kRight, y);
    AppendText(svg, kLeft - 8, y + 4, "end", "#333333", absl::StrFormat("%d", millis));
  }
  AppendText(svg, kLeft, kTop - 16, "start", "#111111",
             "p99 in ms at 90 % load, by clients; 100 servers of one worker");
}

}  // namespace

std::string PlotByClients(const std::vector<Table>& tables) {
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"400\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"720\" height=\"400\" fill=\"#ffffff\"/>\n";
  AppendAxes(&svg);
  std::vector<const Table*> by_clients;
  for (const Table& table : tables) {
    const std::string& key = table.scenario.key;
    if (key != "a10" && key != "a200" && key != "a2000") continue;
    by_clients.push_back(&table);
    const uint32_t clients = table.scenario.setup.clients;
    AppendText(&svg, X(clients), kBottom + 20, "middle", "#333333", absl::StrFormat("%d", clients));
  }
  for (size_t row = 0; !by_clients.empty() && row < by_clients[0]->rows.size(); ++row) {
    const char* const colour = kColours[row % std::size(kColours)];
    std::string points;
    for (const Table* table : by_clients) {
      points += absl::StrFormat("%.1f,%.1f ", X(table->scenario.setup.clients),
                                Y(table->rows[row].cells.back().p99.mean()));
    }
    svg += absl::StrFormat(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points,
        colour);
    AppendText(&svg, kRight + 14, kTop + 20 + 22 * static_cast<double>(row), "start", colour,
               by_clients[0]->rows[row].name);
  }
  return svg + "</svg>\n";
}

}  // namespace weft::balance_sim
