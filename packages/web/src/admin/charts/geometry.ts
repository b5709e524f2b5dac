/** Size of the SVG view box. The page stretches it to the available width. */
export interface ChartSize {
  readonly width: number;
  readonly height: number;
}

const STEPS = [1, 2, 5, 10];

/** Rounds up to 1, 2 or 5 times a power of ten. Returns at least 1, so that a chart of zeros has a scale. */
export function roundUpToStep(largest: number): number {
  if (!(largest > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  // A floating-point error of the division must not select the next step.
  const step = STEPS.find((candidate) => largest / power <= candidate * (1 + 1e-9)) ?? 10;
  return step * power;
}

/** Returns the largest value of several rows, ignoring missing values. */
export function maxValue(rows: readonly (readonly (number | null)[])[]): number {
  let largest = 0;
  for (const row of rows) for (const value of row) if (value !== null && value > largest) largest = value;
  return largest;
}

/** Returns the column at a horizontal position, given as a share of the width. */
export function columnAt(share: number, count: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor(share * count)));
}

/** Returns the column after a key press, or undefined for other keys. Starts at the newest column. */
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

/** Width of a bar relative to its column. */
const BAR_WIDTH_SHARE = 0.7;

const round = (value: number) => Math.round(value * 100) / 100;

/** Draws all bars as one path, so that a chart with a hundred columns needs one element. */
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

/** Draws a line through the column centers with gaps for missing values. A single value is a dot. */
export function linePath(values: Values, maxY: number, { width, height }: ChartSize): string {
  const column = width / values.length;
  let path = '';
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const point = `${round((index + 0.5) * column)} ${round(height - (value / maxY) * height)}`;
    const isFirst = index === 0 || values[index - 1] === null;
    // A zero-length line with round caps renders as a dot.
    path += isFirst ? `M${point}h0` : `L${point}`;
  }
  return path;
}
