import { useMemo } from 'react';
import { chunkText } from '../../result/chunkText.ts';
import { strings } from '../../strings/strings.ts';
import { classNames } from '../../ui/classNames.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import styles from './CodeBlock.module.css';

/** Code as plain text without highlighting. Long code is laid out in chunks when they become visible. */
export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  const words = strings.chat.message;
  const chunks = useMemo(() => chunkText(text), [text]);
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['bar']}>
        <span className={styles['language']}>{language || words.code}</span>
        <CopyButton text={() => text} />
      </figcaption>
      <pre
        className={classNames(styles['code'], chunks.length > 1 && styles['long'])}
        tabIndex={0}
        role="group"
        aria-label={language ? words.codeIn(language) : words.code}
      >
        {chunks.map((chunk, index) => (
          <code key={index} className={styles['chunk']}>
            {chunk.endsWith('\n') || chunk === '' ? `${chunk}\n` : chunk}
          </code>
        ))}
      </pre>
    </figure>
  );
}
