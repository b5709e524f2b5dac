import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import { strings } from '../../strings/strings.ts';
import { classNames } from '../../ui/classNames.ts';
import styles from './Chart.module.css';
import { ChartTable } from './ChartTable.tsx';
import { formatClock } from '../../ui/format.ts';
import {
  type ChartSize,
  barsPath,
  columnAt,
  linePath,
  maxValue,
  nextColumn,
  roundUpToStep,
} from './geometry.ts';

interface ChartSeries {
  readonly name: string;
  readonly tone: 'accent' | 'danger' | 'info' | 'warning';
  readonly shape: 'bars' | 'line';
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  /** One sentence that describes the chart. */
  readonly summary: string;
  /** Drawn in this order. Each series has as many values as `moments`. */
  readonly series: readonly ChartSeries[];
  readonly moments: readonly number[];
  readonly format: (value: number) => string;
}

const chartSize: ChartSize = { width: 600, height: 100 };

/** Chart of values over time, with a summary, a value for the pointer and the arrow keys, and a table. */
export function Chart({ title, summary, series, moments, format }: ChartProps) {
  const { charts } = strings.admin;
  const [column, setColumn] = useState<number | null>(null);
  const maxY = roundUpToStep(maxValue(series.map(({ values }) => values)));
  const moment = column === null ? undefined : moments[column];
  const cursorX = column === null ? 0 : ((column + 0.5) * chartSize.width) / moments.length;

  function handlePointerMove(event: PointerEvent<SVGSVGElement>): void {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setColumn(columnAt((event.clientX - left) / width, moments.length));
  }

  function handleKeyDown(event: KeyboardEvent): void {
    const next = nextColumn(event.key, column, moments.length);
    if (next === undefined) return;
    event.preventDefault();
    setColumn(next);
  }

  return (
    <figure className={styles['chart']}>
      <figcaption className={styles['caption']}>
        <span className={styles['title']}>{title}</span>
        {series.map(({ name, tone, shape }) => (
          <span key={name} className={styles['legend']}>
            <span className={classNames(styles['swatch'], styles[shape], styles[tone])} aria-hidden="true" />
            {name}
          </span>
        ))}
      </figcaption>
      <div className={styles['plot']}>
        <div className={styles['values']} aria-hidden="true">
          <span>{format(maxY)}</span>
          <span>{format(0)}</span>
        </div>
        <svg
          className={styles['picture']}
          viewBox={`0 0 ${chartSize.width} ${chartSize.height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={charts.imageLabel(title, summary)}
          tabIndex={0}
          onPointerMove={handlePointerMove}
          onPointerLeave={() => setColumn(null)}
          onKeyDown={handleKeyDown}
          onBlur={() => setColumn(null)}
        >
          <path
            className={styles['grid']}
            d={`M0 0H${chartSize.width}M0 50H${chartSize.width}M0 100H${chartSize.width}`}
          />
          {series.map(({ name, tone, shape, values }) => (
            <path
              key={name}
              className={classNames(styles[shape], styles[tone])}
              d={(shape === 'bars' ? barsPath : linePath)(values, maxY, chartSize)}
            />
          ))}
          {column !== null && <path className={styles['cursor']} d={`M${cursorX} 0V${chartSize.height}`} />}
        </svg>
        <div className={styles['times']} aria-hidden="true">
          <span>{formatClock(moments[0])}</span>
          <span>{formatClock(moments.at(-1))}</span>
        </div>
      </div>
      <p className={styles['readout']} aria-live="polite">
        {column === null ? summary : [formatClock(moment), ...valuesAt(series, column, format)].join(' · ')}
      </p>
      <ChartTable title={title} series={series} moments={moments} format={format} />
    </figure>
  );
}

function valuesAt(
  series: readonly ChartSeries[],
  column: number,
  format: (value: number) => string,
): string[] {
  const { charts } = strings.admin;
  return series.map(({ name, values }) => {
    const value = values[column] ?? null;
    return charts.value(name, value === null ? charts.noValue : format(value));
  });
}
