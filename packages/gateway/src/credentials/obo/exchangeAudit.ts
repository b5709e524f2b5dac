import { httpStatus, scopeList, type ErrorCode } from '@behalf/contracts';
import { actorOf, type Audit, type AuditEvent } from '../../audit/audit.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { RefusedExchange } from './bearer.ts';
import type { ExchangeContext, ExchangeEvent } from './exchanger.ts';
import { SubjectUnavailable } from './subject.ts';

interface ExchangeAuditParts {
  readonly audit: Pick<Audit, 'note'>;
  readonly log: Log;
}

/** Records exchanges, and requests for a token that were refused before an exchange. */
interface ExchangeAudit {
  /** Called once per exchange, however many callers share it. */
  recordExchange(event: ExchangeEvent): void;
  recordRefused(refusal: RefusedExchange): void;
}

/** The provider's error code and the hint appear in the audit and the log only. Callers receive neither. */
export function createExchangeAudit({ audit, log }: ExchangeAuditParts): ExchangeAudit {
  function writeEvent(
    { server, principal, scopes }: ExchangeContext,
    fields: Partial<AuditEvent> & { code: ErrorCode | undefined },
  ): void {
    audit.note({
      kind: 'credential',
      action: 'obo.exchange',
      tenant: principal.tenant,
      actor: actorOf(principal),
      door: 'gateway',
      outcome: fields.code === undefined ? 'ok' : httpStatus(fields.code) < 500 ? 'refused' : 'failed',
      server: server.name,
      serverId: server.id,
      authority: 'exchanged',
      scopes: scopeList(scopes),
      ...fields,
    });
  }

  return {
    recordExchange({ job, outcome, source, requests, providerCode, hint, durationMs }) {
      // The replica that sent the request recorded cached tokens and cached faults.
      if (source !== 'exchanged') return;
      const code = outcome === 'ok' ? undefined : outcome;
      writeEvent(job.context, { code, providerCode, hint, durationMs, count: requests });
      if (code === undefined || code === 'OBO_REJECTED' || code === 'OBO_CONSENT_REQUIRED') return;
      log('obo_exchange_failed', {
        server: job.context.server.name,
        code,
        ...(providerCode !== undefined && { providerCode }),
        ...(hint !== undefined && { hint }),
      });
    },
    recordRefused: ({ error, ...context }) => writeEvent(context, { code: errorCodeOf(error) }),
  };
}

function errorCodeOf(error: unknown): ErrorCode {
  if (error instanceof GatewayError) return error.code;
  return error instanceof SubjectUnavailable ? error.code : 'INTERNAL';
}
