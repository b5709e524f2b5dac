import { strings } from '../../strings/strings.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Notice } from '../../ui/Notice.tsx';
import styles from './Start.module.css';

/** Where on the page it is said; a link to it opens it. */
export const ADD_MODEL_ID = 'model';

/** How a model is added; who cannot do that is told whom to ask. */
export function AddModel({ isOperator }: { readonly isOperator: boolean }) {
  const words = strings.chat.console;
  if (!isOperator) return <Notice tone="neutral" title={words.askOperator} />;
  return (
    <details className={styles['how']}>
      <summary>{words.howTitle}</summary>
      <div id={ADD_MODEL_ID}>
        <p>{words.howText}</p>
        <pre className={styles['snippet']} tabIndex={0} role="group" aria-label={words.snippetLabel}>
          {words.snippet}
        </pre>
        <CopyButton text={() => words.snippet} />
      </div>
    </details>
  );
}
