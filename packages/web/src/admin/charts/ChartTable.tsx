import { useState } from 'react';
import { strings } from '../../strings/strings.ts';
import type { ChartProps } from './Chart.tsx';
import styles from './ChartTable.module.css';
import { formatClock } from '../../ui/format.ts';

/** Accessible table of the same values. Rendered when the user opens it. */
export function ChartTable({ title, series, moments, format }: Omit<ChartProps, 'summary'>) {
  const { charts } = strings.admin;
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles['details']} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{charts.showTable}</summary>
      {isOpen && (
        <div className={styles['scroll']} tabIndex={0} role="region" aria-label={title}>
          <table>
            <caption className="visually-hidden">{title}</caption>
            <thead>
              <tr>
                <th scope="col">{charts.time}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {moments.map((at, index) => (
                <tr key={at}>
                  <th scope="row">{formatClock(at)}</th>
                  {series.map(({ name, values }) => {
                    const value = values[index] ?? null;
                    return <td key={name}>{value === null ? charts.noValue : format(value)}</td>;
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
