import { Link } from 'wouter';
import { strings } from '../../strings/strings.ts';
import { Icon, type IconName } from '../../ui/Icon.tsx';
import { ADD_MODEL_ID } from './AddModel.tsx';
import styles from './Start.module.css';

/** What an administrator does once the first tool has run. */
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
      {/* A place on this page is no page of its own. */}
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
