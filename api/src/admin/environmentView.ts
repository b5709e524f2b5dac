import {
  secretMask,
  secretVariableNames,
  envVariables,
  type EffectiveConfigView,
  type Env,
  type EnvRecord,
  type Variable,
  type VariableName,
} from '@behalf/contracts';
import { maskAddress } from '@behalf/settings';

type VariableView = EffectiveConfigView['environment'][number];

/** Every variable there is, with what holds of it. Secrets are not shown; of an address as much as tells where. */
export function environmentView(env: Env, record: EnvRecord): VariableView[] {
  return Object.entries<Variable>(envVariables).map(([name, { alias, type }]) => {
    const value = env[name as VariableName];
    const isSecret = secretVariableNames.has(name);
    const mask = isSecret ? maskSecret : maskValue;
    const isConfigured = [name, alias].some((key) => key !== undefined && (record[key] ?? '').trim() !== '');
    return {
      name,
      value: value === undefined ? null : mask(String(value), type),
      isSet: value !== undefined && isConfigured,
      isSecret,
    };
  });
}

const isAddress = (type: string) => /\bUR[IL]$/.test(type);

function maskValue(value: string, type: string): string {
  return isAddress(type) ? maskAddress(value, { shouldKeepIds: true }) : value;
}

/** Scheme, what opens it, hosts with ports, the name of a database, options: what reads otherwise may hide a password. */
const CONNECTION_URL_PATTERN =
  /^([a-z][a-z0-9+]*:\/\/)([^@/?#\s]*@)?((?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:,[\w.-]+(?::\d+)?)*)(\/[\w-]*)?(\?[^@]*)?$/i;

/** Of the address of a store or a proxy where it is; of any other secret nothing. */
function maskSecret(value: string, type: string): string | null {
  const match = isAddress(type) ? CONNECTION_URL_PATTERN.exec(value) : null;
  if (!match) return null;
  const [, scheme = '', userinfo, hosts = '', path = '', query] = match;
  const maskedUserinfo = userinfo === undefined ? '' : `${secretMask}@`;
  return `${scheme}${maskedUserinfo}${hosts}${path}${query === undefined ? '' : `?${secretMask}`}`;
}
