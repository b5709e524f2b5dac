import { areSecretsEqual } from '@behalf/kernel';
import { GatewayError } from '@behalf/gateway';
import { requireOperator } from '../admin/requireOperator.ts';
import type { Admission } from '../http/admission.ts';
import type { Route } from '../http/routes.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsRouteParts {
  metrics: Metrics;
  /** What a collector presents; undefined when none is configured. */
  token: string | undefined;
  admission: Pick<Admission, 'authenticate'>;
}

/** For a collector with its token, or an administrator of the whole gateway: the names of servers are not for everybody. */
export function metricsRoute({ metrics, token, admission }: MetricsRouteParts): Route {
  return {
    method: 'get',
    path: '/metrics',
    access: 'public',
    async handle(req, res) {
      // Whoever presents a token is judged by it alone, however malformed it is.
      const bearer = /^Bearer(?: +(.*))?$/i.exec(req.headers.authorization ?? '');
      if (!bearer) requireOperator(await admission.authenticate(req, { access: 'admin', scope: 'admin' }));
      else if (token === undefined || !areSecretsEqual(bearer[1] ?? '', token))
        throw new GatewayError('AUTH_REQUIRED');
      res.type(metrics.contentType).send(await metrics.render());
    },
  };
}
