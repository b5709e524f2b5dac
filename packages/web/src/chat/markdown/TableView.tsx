import type { ReactNode } from 'react';
import { strings } from '../../strings/strings.ts';
import type { Alignment, Mark } from './marks.ts';
import { MarksView } from './MarksView.tsx';
import styles from './TableView.module.css';

type Aligned = readonly Alignment[];
type Cells = readonly Mark[];

/** The head of a table and the room for its rows. It scrolls by itself, so the keyboard must be able to reach it. */
export function TableFrame({
  names,
  align,
  children,
}: {
  readonly names: Cells;
  readonly align: Aligned;
  readonly children: ReactNode;
}) {
  return (
    <div className={styles['frame']} tabIndex={0} role="group" aria-label={strings.chat.message.table}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {names.map((cell, index) => (
              <th key={index} scope="col" className={alignment(align, index)}>
                <MarksView marks={inside(cell)} />
              </th>
            ))}
          </tr>
        </thead>
        {children}
      </table>
    </div>
  );
}

export function TableRows({ rows, align }: { readonly rows: readonly Cells[]; readonly align: Aligned }) {
  return (
    <tbody>
      {rows.map((cells, row) => (
        <tr key={row}>
          {cells.map((cell, index) => (
            <td key={index} className={alignment(align, index)}>
              <MarksView marks={inside(cell)} />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

export function TableView({ rows, align }: { readonly rows: readonly Cells[]; readonly align: Aligned }) {
  const [names = [], ...others] = rows;
  return (
    <TableFrame names={names} align={align}>
      <TableRows rows={others} align={align} />
    </TableFrame>
  );
}

function inside(cell: Mark): readonly Mark[] {
  return 'children' in cell ? cell.children : [cell];
}

function alignment(align: Aligned, index: number): string | undefined {
  const side = align[index];
  return side ? styles[side] : undefined;
}
