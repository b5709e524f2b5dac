import { describeLimits } from './describeLimits.ts';
import type { FormNode } from './formNode.ts';
import styles from './SchemaForm.module.css';

/** What the server says about a place, and what its schema allows there. */
export function renderFieldHint(node: FormNode, extra = '') {
  const hintText = [node.description, describeLimits(node), extra].filter(Boolean).join('\n');
  return hintText === '' ? undefined : <span className={styles['hint']}>{hintText}</span>;
}
