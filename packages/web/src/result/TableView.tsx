import { memo, useState, type CSSProperties } from 'react';
import { useProgressiveCount } from '../ui/LongList.tsx';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { classNames } from '../ui/classNames.ts';
import { type ResultTable, columnWidths, isScalar } from './resultTable.ts';
import styles from './TableView.module.css';

const CHUNK_ROWS = 50;
/** Rows that are shown before the user requests more. */
const PAGE_ROWS = 1_000;

type Rows = ResultTable['rows'];

/**
 * A table made of boxes with table roles. Browsers can skip the layout of boxes that are out of view, but not of
 * table rows.
 */
export function TableView({ table }: { readonly table: ResultTable }) {
  const words = strings.tools.result;
  const [maxRows, setMaxRows] = useState(PAGE_ROWS);
  const { name, columns, rows, isKeyValue } = table;
  const rowCount = Math.min(rows.length, maxRows);
  const renderedCount = useProgressiveCount(rowCount, CHUNK_ROWS);
  const chunks = Array.from(
    { length: Math.ceil(renderedCount / CHUNK_ROWS) },
    (_, index) => index * CHUNK_ROWS,
  );
  const { template, minWidth } = columnWidths(table);
  const style = { '--columns': template, '--least': minWidth } as CSSProperties;
  return (
    <div className={styles['box']}>
      <div className={styles['scroll']} tabIndex={0} role="group" aria-label={words.table(name ?? '')}>
        <div
          role="table"
          aria-label={words.table(name ?? '')}
          aria-rowcount={rows.length + (isKeyValue ? 0 : 1)}
          className={classNames(styles['table'], isKeyValue && styles['pairs'])}
          style={style}
        >
          {!isKeyValue && (
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
              end={Math.min(start + CHUNK_ROWS, rowCount)}
              isKeyValue={isKeyValue}
            />
          ))}
        </div>
      </div>
      {rows.length > rowCount && (
        <Button size="small" variant="quiet" onClick={() => setMaxRows(maxRows + PAGE_ROWS)}>
          {words.moreRows(Math.min(PAGE_ROWS, rows.length - rowCount))}
        </Button>
      )}
    </div>
  );
}

const Chunk = memo(function Chunk({
  rows,
  start,
  end,
  isKeyValue,
}: {
  readonly rows: Rows;
  readonly start: number;
  readonly end: number;
  readonly isKeyValue: boolean;
}) {
  return (
    <div role="rowgroup" className={styles['chunk']}>
      {rows.slice(start, end).map((row, index) => (
        <div key={start + index} role="row" className={styles['row']}>
          {row.map((cell, column) => (
            <div
              key={column}
              role={isKeyValue && column === 0 ? 'rowheader' : 'cell'}
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
