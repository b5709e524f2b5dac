import { httpStatus, scopeList, type ErrorCode } from '@behalf/contracts';
import { actorOf, type Audit, type AuditEvent } from '../../audit/audit.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { ExchangeContext, ExchangeEvent } from './exchanger.ts';
import type { RefusedExchange } from './bearer.ts';
import { SubjectUnavailable } from './subject.ts';

interface ExchangeAuditParts {
  readonly audit: Pick<Audit, 'note'>;
  readonly log: Log;
}

/** The books: what was exchanged in whose name, and who got nothing. */
interface ExchangeAudit {
  /** Once for each exchange, however many waited for it. */
  recordExchange(event: ExchangeEvent): void;
  recordRefused(refusal: RefusedExchange): void;
}

/**
 * What a provider's code means and what to do about it stands here and in the log, for the operator: who calls is told
 * neither.
 */
export function createExchangeAudit({ audit, log }: ExchangeAuditParts): ExchangeAudit {
  function writeEvent(
    context: ExchangeContext,
    fields: Partial<AuditEvent> & { code: ErrorCode | undefined },
  ): void {
    const { server, principal, scopes } = context;
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
      // What another replica has exchanged, or what is remembered of a failure, was written down then.
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
  if (error instanceof SubjectUnavailable) {
    return error.reason === 'absent' ? 'OBO_SUBJECT_TOKEN_MISSING' : 'OBO_SUBJECT_TOKEN_EXPIRED';
  }
  return 'INTERNAL';
}
