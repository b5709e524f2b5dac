import { strings } from '../strings/strings.ts';
import { StructuredView } from './StructuredView.tsx';
import styles from './ResultView.module.css';

/** What a tool was called with. */
export function ArgumentsView({ args }: { readonly args: Readonly<Record<string, unknown>> }) {
  const words = strings.tools.result;
  if (Object.keys(args).length === 0) return <p className={styles['note']}>{words.noArguments}</p>;
  return <StructuredView value={args} label={words.arguments} />;
}
