import { memo, useState, type CSSProperties } from 'react';
import { useProgressiveCount } from '../hooks/useProgressiveCount.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { classNames } from '../ui/classNames.ts';
import { columnWidths } from './columnWidths.ts';
import { isScalar, type Table } from './readTable.ts';
import styles from './TableView.module.css';

const ROWS_OF_CHUNK = 50;
/** More rows than this are there when somebody asks for them. */
const MOST_ROWS = 1_000;

type Rows = Table['rows'];

/**
 * Rows and columns. It is made of boxes with the roles of a table, because a browser can leave out the layout of boxes
 * that are out of view, and not that of the rows of a table.
 */
export function TableView({ table }: { readonly table: Table }) {
  const words = strings.tools.result;
  const [most, setMost] = useState(MOST_ROWS);
  const { name, columns, rows, isPairs } = table;
  const allowed = Math.min(rows.length, most);
  const shown = useProgressiveCount(allowed, ROWS_OF_CHUNK);
  const chunks = Array.from(
    { length: Math.ceil(shown / ROWS_OF_CHUNK) },
    (_, index) => index * ROWS_OF_CHUNK,
  );
  const { template, least } = columnWidths(table);
  const width = { '--columns': template, '--least': least } as CSSProperties;
  return (
    <div className={styles['box']}>
      <div className={styles['scroll']} tabIndex={0} role="group" aria-label={words.table(name ?? '')}>
        <div
          role="table"
          aria-label={words.table(name ?? '')}
          aria-rowcount={rows.length + (isPairs ? 0 : 1)}
          className={classNames(styles['table'], isPairs && styles['pairs'])}
          style={width}
        >
          {!isPairs && (
            <div role="rowgroup" className={styles['head']}>
              <div role="row" className={styles['row']}>
                {columns.map((column) => (
                  <div key={column} role="columnheader" className={styles['cell']}>
                    {column}
                  </div>
                ))}
              </div>
            </div>
          )}
          {chunks.map((start) => (
            <Chunk
              key={start}
              rows={rows}
              start={start}
              end={Math.min(start + ROWS_OF_CHUNK, allowed)}
              isPairs={isPairs}
            />
          ))}
        </div>
      </div>
      {rows.length > allowed && (
        <Button size="small" variant="quiet" onClick={() => setMost(most + MOST_ROWS)}>
          {words.moreRows(Math.min(MOST_ROWS, rows.length - allowed))}
        </Button>
      )}
    </div>
  );
}

const Chunk = memo(function Chunk({
  rows,
  start,
  end,
  isPairs,
}: {
  readonly rows: Rows;
  readonly start: number;
  readonly end: number;
  readonly isPairs: boolean;
}) {
  return (
    <div role="rowgroup" className={styles['chunk']}>
      {rows.slice(start, end).map((row, index) => (
        <div key={start + index} role="row" className={styles['row']}>
          {row.map((cell, column) => (
            <div
              key={column}
              role={isPairs && column === 0 ? 'rowheader' : 'cell'}
              className={classNames(styles['cell'], typeof cell === 'number' && styles['number'])}
            >
              {isScalar(cell) ? String(cell) : ''}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
});
