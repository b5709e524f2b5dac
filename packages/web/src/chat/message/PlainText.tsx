import { useMemo } from 'react';
import { chunkText } from '../../result/chunkText.ts';
import styles from './PlainText.module.css';

/** Plain text in chunks that are laid out when they become visible. */
export function PlainText({ text }: { readonly text: string }) {
  const chunks = useMemo(() => chunkText(text), [text]);
  return (
    <div className={styles['plain']}>
      {chunks.map((chunk, index) => (
        <div key={index} className={styles['chunk']}>
          {chunk === '' ? '\n' : chunk}
        </div>
      ))}
    </div>
  );
}
