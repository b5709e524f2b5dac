import { httpStatus, scopeList, type ErrorCode } from '@behalf/contracts';
import { actorOf, type Audit, type AuditEvent } from '../../audit/audit.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import type { ExchangeEvent } from './createExchanger.ts';
import type { About } from './exchanger.ts';
import type { RefusedWish } from './oboTokens.ts';
import { SubjectUnavailable } from './subject.ts';

export interface ExchangeRecordParts {
  readonly audit: Pick<Audit, 'note'>;
  readonly log: Log;
}

/** The books: what was exchanged in whose name, and who got nothing. */
export interface ExchangeRecord {
  /** Once for each exchange, however many waited for it. */
  exchanged(event: ExchangeEvent): void;
  refused(wish: RefusedWish): void;
}

/**
 * What a provider's code means and what to do about it stands here and in the log, for the operator: who calls is told
 * neither.
 */
export function createExchangeRecord({ audit, log }: ExchangeRecordParts): ExchangeRecord {
  function note(about: About, more: Partial<AuditEvent> & { code: ErrorCode | undefined }): void {
    const { server, principal, scopes } = about;
    audit.note({
      kind: 'credential',
      action: 'obo.exchange',
      tenant: principal.tenant,
      actor: actorOf(principal),
      door: 'gateway',
      outcome: more.code === undefined ? 'ok' : httpStatus(more.code) < 500 ? 'refused' : 'failed',
      server: server.name,
      serverId: server.id,
      authority: 'exchanged',
      scopes: scopeList(scopes),
      ...more,
    });
  }

  return {
    exchanged({ job, outcome, from, requests, providerCode, hint, durationMs }) {
      // What another replica has exchanged, or what is remembered of a failure, was written down then.
      if (from !== 'exchanged') return;
      const code = outcome === 'ok' ? undefined : outcome;
      note(job.about, { code, providerCode, hint, durationMs, count: requests });
      if (code === undefined || code === 'OBO_REJECTED' || code === 'OBO_CONSENT_REQUIRED') return;
      log('obo_exchange_failed', {
        server: job.about.server.name,
        code,
        ...(providerCode !== undefined && { providerCode }),
        ...(hint !== undefined && { hint }),
      });
    },
    refused: ({ error, ...about }) => note(about, { code: codeOf(error) }),
  };
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof GatewayError) return error.code;
  if (error instanceof SubjectUnavailable) {
    return error.reason === 'absent' ? 'OBO_SUBJECT_TOKEN_MISSING' : 'OBO_SUBJECT_TOKEN_EXPIRED';
  }
  return 'INTERNAL';
}
