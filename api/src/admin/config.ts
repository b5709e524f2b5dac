import type { Diagnostic, EffectiveConfigView, Env, EnvRecord } from '@behalf/contracts';
import type { Configuration } from '../configuration.ts';
import type { Route } from '../http/routes.ts';
import { requireOperator } from './requireOperator.ts';
import { environmentView } from './environmentView.ts';

export interface ConfigRouteParts {
  readonly configuration: Pick<Configuration, 'describe'>;
  readonly env: Env;
  readonly record: EnvRecord;
}

/** What runs, for who runs it. */
export function configRoute({ configuration, env, record }: ConfigRouteParts): Route {
  return {
    method: 'get',
    path: '/api/admin/config',
    access: 'admin',
    scope: 'admin',
    handle(_req, res, caller) {
      requireOperator(caller);
      const { file, redacted, warnings } = configuration.describe();
      const view: EffectiveConfigView = {
        file,
        config: redacted,
        environment: environmentView(env, record),
        warnings: warnings.map(warningView),
      };
      res.json(view);
    },
  };
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
