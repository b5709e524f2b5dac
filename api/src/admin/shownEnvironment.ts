import {
  secretMask,
  secretVariableNames,
  variables,
  type EffectiveConfigView,
  type Env,
  type EnvRecord,
  type Variable,
  type VariableName,
} from '@behalf/contracts';
import { maskAddress } from '@behalf/settings';

type ShownVariable = EffectiveConfigView['environment'][number];

/** Every variable there is, with what holds of it. Secrets are not shown; of an address as much as tells where. */
export function shownEnvironment(env: Env, record: EnvRecord): ShownVariable[] {
  return Object.entries<Variable>(variables).map(([name, { alias, type }]) => {
    const value = env[name as VariableName];
    const isSecret = secretVariableNames.has(name);
    const show = isSecret ? shownSecret : shownValue;
    const isSaid = [name, alias].some((key) => key !== undefined && (record[key] ?? '').trim() !== '');
    return {
      name,
      value: value === undefined ? null : show(String(value), type),
      isSet: value !== undefined && isSaid,
      isSecret,
    };
  });
}

const isAddress = (type: string) => /\bUR[IL]$/.test(type);

function shownValue(value: string, type: string): string {
  return isAddress(type) ? maskAddress(value, { keepsIds: true }) : value;
}

/** Scheme, what opens it, hosts with ports, the name of a database, options: what reads otherwise may hide a password. */
const CONNECTION =
  /^([a-z][a-z0-9+]*:\/\/)([^@/?#\s]*@)?((?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:,[\w.-]+(?::\d+)?)*)(\/[\w-]*)?(\?[^@]*)?$/i;

/** Of the address of a store or a proxy where it is; of any other secret nothing. */
function shownSecret(value: string, type: string): string | null {
  const parts = isAddress(type) ? CONNECTION.exec(value) : null;
  if (!parts) return null;
  const [, scheme = '', userinfo, hosts = '', path = '', query] = parts;
  const at = userinfo === undefined ? '' : `${secretMask}@`;
  return `${scheme}${at}${hosts}${path}${query === undefined ? '' : `?${secretMask}`}`;
}
