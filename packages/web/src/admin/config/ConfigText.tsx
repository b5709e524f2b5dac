import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { piecesOf, type ConfigPiece } from './configNode.ts';
import styles from './ConfigTree.module.css';

/** A text of the configuration, in which hidden secrets and names of variables stand out. */
export function ConfigText({ text }: { readonly text: string }) {
  return piecesOf(text).map((piece, index) => <Piece key={index} piece={piece} />);
}

function Piece({ piece: { kind, text } }: { readonly piece: ConfigPiece }) {
  if (kind === 'secret') return <Badge tone="warning">{strings.admin.config.hidden}</Badge>;
  return kind === 'variable' ? <span className={styles['variable']}>{text}</span> : text;
}
