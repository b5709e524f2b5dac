import { Link } from 'wouter';
import { strings } from '../../strings/strings.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Icon, type IconName } from '../../ui/Icon.tsx';
import { Notice } from '../../ui/Notice.tsx';
import styles from './Start.module.css';

/** Setup steps for administrators. */
export function NextSteps({ hasModel }: { readonly hasModel: boolean }) {
  const words = strings.chat.start;
  return (
    <section className={styles['section']} aria-labelledby="next">
      <h2 id="next">{words.next}</h2>
      <ul className={styles['steps']}>
        <Step icon="server" href="/servers" step={words.steps.server} />
        {!hasModel && <Step icon="chat" href={`#${ADD_MODEL_ID}`} step={words.steps.model} />}
        <Step icon="users" href="/admin/users" step={words.steps.people} />
      </ul>
    </section>
  );
}

function Step({
  icon,
  href,
  step: { title, text },
}: {
  readonly icon: IconName;
  readonly href: string;
  readonly step: { readonly title: string; readonly text: string };
}) {
  const content = (
    <>
      <Icon name={icon} />
      <span>
        <span className={styles['tryTitle']}>{title}</span>
        <span className={styles['tryText']}>{text}</span>
      </span>
    </>
  );
  return (
    <li>
      {/* A fragment link must not use the router. */}
      {href.startsWith('#') ? (
        <a href={href} className={styles['step']}>
          {content}
        </a>
      ) : (
        <Link href={href} className={styles['step']}>
          {content}
        </Link>
      )}
    </li>
  );
}

/** Anchor of the instructions. A link to it opens the details element. */
const ADD_MODEL_ID = 'model';

/** Instructions to add a model. Users who are not operators see a note to ask an operator. */
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
