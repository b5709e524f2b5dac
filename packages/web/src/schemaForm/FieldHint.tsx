import { describeLimits } from './describeLimits.ts';
import type { FormNode } from './formNode.ts';
import styles from './SchemaForm.module.css';

/** What the server says about a place, and what its schema allows there. */
export function fieldHint(node: FormNode, more = '') {
  const said = [node.description, describeLimits(node), more].filter(Boolean).join('\n');
  return said === '' ? undefined : <span className={styles['hint']}>{said}</span>;
}
