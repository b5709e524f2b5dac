import { ArgumentsView } from '../../result/ResultView.tsx';
import { strings } from '../../strings/strings.ts';
import styles from './BlockRunner.module.css';

/** Inputs that the user sees but cannot change. Renders nothing if there are none. */
export function FixedInputs({
  title,
  args,
}: {
  readonly title: string;
  readonly args: Readonly<Record<string, unknown>>;
}) {
  if (Object.keys(args).length === 0) return null;
  return (
    <details className={styles['fixed']} open>
      <summary>{title}</summary>
      <div>
        <p className={styles['hint']}>{strings.blocks.run.fixedHint}</p>
        <ArgumentsView args={args} />
      </div>
    </details>
  );
}
