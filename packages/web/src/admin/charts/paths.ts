import type { ChartSize } from './scale.ts';

type Values = readonly (number | null)[];

/** How much of a column its bar fills. */
const BAR_WIDTH_SHARE = 0.7;

const round = (value: number) => Math.round(value * 100) / 100;

/** All bars as one path: a chart of a hundred columns costs the page one element. */
export function barsPath(values: Values, maxY: number, { width, height }: ChartSize): string {
  const column = width / values.length;
  const bar = round(column * BAR_WIDTH_SHARE);
  return values
    .flatMap((value, index) => {
      if (value === null || value <= 0) return [];
      const barHeight = round((value / maxY) * height);
      const left = round(index * column + (column - bar) / 2);
      return [`M${left} ${height}v${-barHeight}h${bar}v${barHeight}z`];
    })
    .join('');
}

/** A line through the middle of the columns, broken where there is no value. A value alone is a dot. */
export function linePath(values: Values, maxY: number, { width, height }: ChartSize): string {
  const column = width / values.length;
  let path = '';
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const point = `${round((index + 0.5) * column)} ${round(height - (value / maxY) * height)}`;
    const isFirst = index === 0 || values[index - 1] === null;
    // A line of no length has round ends: that is the dot.
    path += isFirst ? `M${point}h0` : `L${point}`;
  }
  return path;
}
