import { useMemo } from 'react';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { CopyButton } from '../ui/CopyButton.tsx';
import { chunkText } from './chunkText.ts';
import { formatJson } from './json.ts';
import styles from './TextView.module.css';

/** Text from a server. JSON is indented and labeled. The copy button copies the original. */
export function TextView({ text, name = '' }: { readonly text: string; readonly name?: string }) {
  const words = strings.tools.result;
  const formatted = useMemo(() => formatJson(text), [text]);
  const chunks = useMemo(() => chunkText(formatted ?? text), [formatted, text]);
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['bar']}>
        <span className={styles['name']}>{name || words.text}</span>
        {formatted !== undefined && <Badge>{words.json}</Badge>}
        <CopyButton text={() => text} />
      </figcaption>
      {/* It scrolls by itself, so the keyboard must be able to reach it. */}
      <div className={styles['text']} tabIndex={0} role="group" aria-label={name || words.text}>
        {chunks.map((chunk, index) => (
          <div key={index} className={styles['chunk']}>
            {/* An empty line at the end of a block has no height. */}
            {chunk.endsWith('\n') || chunk === '' ? `${chunk}\n` : chunk}
          </div>
        ))}
      </div>
    </figure>
  );
}
