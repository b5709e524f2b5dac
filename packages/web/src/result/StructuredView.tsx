import { useMemo } from 'react';
import { strings } from '../strings/strings.ts';
import { CopyButton } from '../ui/CopyButton.tsx';
import { JsonTree } from './JsonTree.tsx';
import { toResultTable } from './resultTable.ts';
import styles from './StructuredView.module.css';
import { TableView } from './TableView.tsx';

/** A JSON value: as a table if it has that shape, otherwise as a tree. */
export function StructuredView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const table = useMemo(() => toResultTable(value), [value]);
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['bar']}>
        {label}
        <CopyButton text={() => JSON.stringify(value, null, 2)} />
      </figcaption>
      {table ? (
        <TableView table={table} />
      ) : (
        <div
          className={styles['scroll']}
          tabIndex={0}
          role="group"
          aria-label={strings.tools.result.structured}
        >
          <JsonTree value={value} />
        </div>
      )}
    </figure>
  );
}
