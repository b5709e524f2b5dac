import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { splitConfigText, type ConfigTextPart } from './configNode.ts';
import styles from './ConfigTree.module.css';

/** A text of the configuration, in which hidden secrets and names of variables stand out. */
export function ConfigText({ text }: { readonly text: string }) {
  return splitConfigText(text).map((part, index) => <TextPart key={index} part={part} />);
}

function TextPart({ part: { kind, text } }: { readonly part: ConfigTextPart }) {
  if (kind === 'secret') return <Badge tone="warning">{strings.admin.config.hidden}</Badge>;
  return kind === 'variable' ? <span className={styles['variable']}>{text}</span> : text;
}
