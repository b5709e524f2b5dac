import { useState } from 'react';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import styles from './ConfigTree.module.css';
import { type ConfigNode, type ConfigTextPart, splitConfigText } from './configNode.ts';

type Branch = Extract<ConfigNode, { kind: 'branch' }>;

/** Configuration tree. Renders only open branches, so that thousands of servers open quickly. */
export function ConfigTree({ node, depth = 0 }: { readonly node: Branch; readonly depth?: number }) {
  return (
    <ul className={styles['branch']}>
      {node.children.map(([name, child]) => (
        <li key={name}>
          {child.kind === 'branch' ? (
            <BranchEntry name={name} node={child} isInList={node.isList} depth={depth} />
          ) : (
            <p className={styles['leaf']}>
              <Name name={name} isInList={node.isList} /> <Value node={child} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

function BranchEntry({
  name,
  node,
  isInList,
  depth,
}: {
  readonly name: string;
  readonly node: Branch;
  readonly isInList: boolean;
  readonly depth: number;
}) {
  const { config } = strings.admin;
  const [isOpen, setOpen] = useState(depth === 0);
  const count = node.children.length;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} isInList={isInList} />{' '}
        <span className={styles['count']}>{node.isList ? config.items(count) : config.keys(count)}</span>
      </summary>
      {isOpen && <ConfigTree node={node} depth={depth + 1} />}
    </details>
  );
}

function Name({ name, isInList }: { readonly name: string; readonly isInList: boolean }) {
  const { config } = strings.admin;
  return (
    <span className={styles['name']}>{isInList ? config.item(Number(name) + 1) : config.key(name)}</span>
  );
}

function Value({ node }: { readonly node: Exclude<ConfigNode, Branch> }) {
  const { config } = strings.admin;
  if (node.kind === 'empty') return <span className={styles['count']}>{config.empty}</span>;
  if (node.kind === 'plain') return <span className={styles['plain']}>{node.text}</span>;
  return <ConfigText text={node.text} />;
}

/** Configuration text with highlighted secret masks and variable names. */
export function ConfigText({ text }: { readonly text: string }) {
  return splitConfigText(text).map((part, index) => <TextPart key={index} part={part} />);
}

function TextPart({ part: { kind, text } }: { readonly part: ConfigTextPart }) {
  if (kind === 'secret') return <Badge tone="warning">{strings.admin.config.hidden}</Badge>;
  return kind === 'variable' ? <span className={styles['variable']}>{text}</span> : text;
}
