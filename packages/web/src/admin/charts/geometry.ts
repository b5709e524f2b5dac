/** A drawing in units of its own; the page stretches it to the room there is. */
export interface ChartSize {
  readonly width: number;
  readonly height: number;
}

const STEPS = [1, 2, 5, 10];

/** The next round number that nothing exceeds: 1, 2 or 5 times a power of ten. At least 1, so that zero has a place. */
export function roundUpToStep(largest: number): number {
  if (!(largest > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  // Of 0.3 / 0.1 nothing must remain that asks for the next step.
  const step = STEPS.find((candidate) => largest / power <= candidate * (1 + 1e-9)) ?? 10;
  return step * power;
}

/** The largest of several rows of values, without those that are missing. */
export function maxValue(rows: readonly (readonly (number | null)[])[]): number {
  let largest = 0;
  for (const row of rows) for (const value of row) if (value !== null && value > largest) largest = value;
  return largest;
}

/** Which of `count` columns lies under a point, as a share of the width. */
export function columnAt(share: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor(share * count)));
}

/** Which column a key leads to; undefined for a key that leads nowhere. From nowhere it begins at the newest one. */
export function nextColumn(key: string, column: number | null, count: number): number | undefined {
  const current = column ?? count;
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: current - 1,
    ArrowRight: current + 1,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  return target === undefined ? undefined : Math.min(count - 1, Math.max(0, target));
}

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
