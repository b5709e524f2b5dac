import type { EffectiveConfigView } from '@behalf/contracts';
import { useState } from 'react';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Switch } from '../../ui/Field.tsx';
import { ConfigText } from './ConfigTree.tsx';
import styles from './EnvironmentTable.module.css';

type Variable = EffectiveConfigView['environment'][number];

/** Environment variables with their effective values. By default only those that are set. */
export function EnvironmentTable({ variables }: { readonly variables: readonly Variable[] }) {
  const { config } = strings.admin;
  const [isSetOnly, setSetOnly] = useState(true);
  const shown = isSetOnly ? variables.filter(({ isSet }) => isSet) : variables;
  return (
    <>
      <Switch label={config.nonDefaultOnly} isOn={isSetOnly} onChange={setSetOnly} />
      {shown.length === 0 ? (
        <p>{config.allDefault}</p>
      ) : (
        <table className={styles['table']}>
          <thead>
            <tr>
              <th scope="col">{config.variable}</th>
              <th scope="col">{config.value}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((variable) => (
              <tr key={variable.name}>
                <th scope="row">
                  <code>{variable.name}</code>{' '}
                  <Badge tone={variable.isSet ? 'info' : 'neutral'}>
                    {variable.isSet ? config.isSet : config.isDefault}
                  </Badge>
                </th>
                <td>
                  <Value variable={variable} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Value({ variable: { value, isSet, isSecret } }: { readonly variable: Variable }) {
  const { config } = strings.admin;
  if (value === null && isSecret && isSet) return <Badge tone="warning">{config.hidden}</Badge>;
  return value === null || value === '' ? (
    <span className={styles['none']}>{config.noValue}</span>
  ) : (
    <code>
      <ConfigText text={value} />
    </code>
  );
}
