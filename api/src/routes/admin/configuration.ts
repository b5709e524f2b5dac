import {
  type Diagnostic,
  type EffectiveConfigView,
  type Env,
  type EnvRecord,
  type Variable,
  type VariableName,
  envVariables,
  secretMask,
  secretVariableNames,
} from '@behalf/contracts';
import { type Audit, GatewayError } from '@behalf/gateway';
import { maskAddress } from '@behalf/settings';
import { recordSuccess } from '../../http/audit.ts';
import { requireOperator } from '../../http/authentication.ts';
import { type Route, adminRoute } from '../../http/route.ts';
import type { Configuration, ReloadResult } from '../../runtime/configuration.ts';

interface ConfigRouteParts {
  readonly configuration: Pick<Configuration, 'describe'>;
  readonly env: Env;
  readonly record: EnvRecord;
}

/** The effective configuration, for operators. */
export function configRoute({ configuration, env, record }: ConfigRouteParts): Route {
  return adminRoute('get', '/api/admin/config', (_req, res, caller) => {
    requireOperator(caller);
    const { file, redacted, warnings } = configuration.describe();
    const view: EffectiveConfigView = {
      file,
      config: redacted,
      environment: environmentView(env, record),
      warnings: warnings.map(warningView),
    };
    res.json(view);
  });
}

function warningView({
  path,
  message,
  suggestion,
  line,
}: Diagnostic): EffectiveConfigView['warnings'][number] {
  return {
    path,
    message: suggestion === undefined ? message : `${message}; ${suggestion}`,
    ...(line !== undefined && { line }),
  };
}

type VariableView = EffectiveConfigView['environment'][number];

/** Every environment variable with its effective value. Secrets are omitted, credentials in URLs are masked. */
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

/** Scheme, user info, hosts, database name and query. A value of another form is hidden, because it may contain a password. */
const CONNECTION_URL_PATTERN =
  /^([a-z][a-z0-9+]*:\/\/)([^@/?#\s]*@)?((?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:,[\w.-]+(?::\d+)?)*)(\/[\w-]*)?(\?[^@]*)?$/i;

/** Shows the hosts of a store or proxy URL. Any other secret is omitted. */
function maskSecret(value: string, type: string): string | null {
  const match = isAddress(type) ? CONNECTION_URL_PATTERN.exec(value) : null;
  if (!match) return null;
  const [, scheme = '', userinfo, hosts = '', path = '', query] = match;
  const maskedUserinfo = userinfo === undefined ? '' : `${secretMask}@`;
  return `${scheme}${maskedUserinfo}${hosts}${path}${query === undefined ? '' : `?${secretMask}`}`;
}

interface ReloadParts {
  reload: (requestedBy: string) => ReloadResult;
  /** Notifies the other replicas. */
  announce: () => Promise<void>;
  audit: Audit;
}

export function reloadRoute({ reload, announce, audit }: ReloadParts): Route {
  return adminRoute('post', '/api/admin/reload', async (_req, res, caller) => {
    requireOperator(caller);
    const outcome = reload(caller.userId);
    if (!outcome.ok) throw new GatewayError('CONFIG_INVALID', { errors: outcome.diagnostics });
    await announce();
    await recordSuccess(audit, caller, { kind: 'config', action: 'settings.reload', door: 'admin' });
    res.json({ reloaded: true });
  });
}
