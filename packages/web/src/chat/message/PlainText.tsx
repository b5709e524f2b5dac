import { useMemo } from 'react';
import { chunkText } from '../../result/chunkText.ts';
import styles from './PlainText.module.css';

/** A text as it is, in pieces that are laid out as they come into view. */
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
