import { lazy, memo, Suspense, useDeferredValue, type ComponentType } from 'react';
import { useStore } from '../../app/store.ts';
import type { MarkdownBlockProps } from '../markdown/MarkdownBlock.tsx';
import { listBlocks } from '../markdown/splitBlocks.ts';
import type { TextPartState } from '../session/messages.ts';
import { countRender } from './countRender.ts';
import { PlainText } from './PlainText.tsx';
import styles from './TextPart.module.css';

/** Where the reader of Markdown cannot be loaded, its source is what is shown. */
const MarkdownBlock = lazy<ComponentType<MarkdownBlockProps>>(() =>
  import('../markdown/MarkdownBlock.tsx').then(
    (m) => ({ default: m.MarkdownBlock }),
    () => ({ default: SourceBlock }),
  ),
);

/** What is longer is shown as it was written first, and read in steps between which the page stays usable. */
const SHORT_TEXT_LENGTH = 6_000;

/** A text of the model, in Markdown. Of its blocks only the last is read again when something is added. */
export const TextPart = memo(function TextPart({ part }: { readonly part: TextPartState }) {
  countRender(part.id, 'text');
  const { text, blocks } = useStore(part.state);
  const isReady = useDeferredValue(true, text.length < SHORT_TEXT_LENGTH);
  const plainText = <PlainText text={text} />;
  if (!isReady) return plainText;
  const sources = listBlocks(blocks);
  return (
    <Suspense fallback={plainText}>
      <div className={styles['text']}>
        {sources.map((source, index) => (
          <MarkdownBlock
            key={index}
            source={source}
            definitions={blocks.definitions}
            isUnclosedCode={blocks.isCode && index === sources.length - 1}
          />
        ))}
      </div>
    </Suspense>
  );
});

function SourceBlock({ source }: MarkdownBlockProps) {
  return <PlainText text={source} />;
}
