import { expect, test } from '@jest/globals';
import { adaPrincipal, createOboTokensRig } from '../../../test/oboRig.ts';
import type { AuditEvent } from '../../audit/audit.ts';
import { formatEventLine, parseEventLine } from '../../audit/segment.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ExchangeEvent } from './exchanger.ts';
import { createExchangeAudit } from './exchangeAudit.ts';
import { SubjectUnavailable } from './subject.ts';

const context = { server: createOboTokensRig().server, principal: adaPrincipal, scopes: 'b a a' };

function rig() {
  const events: AuditEvent[] = [];
  const logged: [string, object][] = [];
  const record = createExchangeAudit({
    audit: { note: (event) => void events.push(event) },
    log: (event, fields) => void logged.push([event, fields]),
  });
  const exchanged = (more: Partial<ExchangeEvent>) =>
    record.recordExchange({
      job: { context } as ExchangeEvent['job'],
      outcome: 'ok',
      requests: 1,
      source: 'exchanged',
      durationMs: 5,
      hasMissingScopes: false,
      ...more,
    });
  return { events, logged, record, exchanged };
}

test('who, for which server and scopes, and how it ended', () => {
  const { events, logged, exchanged } = rig();
  exchanged({});
  expect(events).toMatchObject([
    {
      kind: 'credential',
      action: 'obo.exchange',
      actor: { kind: 'user', id: 'ada' },
      outcome: 'ok',
      server: 'server',
      authority: 'exchanged',
      scopes: ['a', 'b'],
      durationMs: 5,
      count: 1,
    },
  ]);
  expect(logged).toEqual([]);
});

test('what the provider’s code means is for the operator to read', () => {
  const { events, logged, exchanged } = rig();
  const said = { providerCode: 'AADSTS50013', hint: 'The assertion is for another app.' };
  exchanged({ outcome: 'OBO_MISCONFIGURED', ...said });
  expect(events).toMatchObject([{ outcome: 'failed', code: 'OBO_MISCONFIGURED', ...said }]);
  expect(logged).toEqual([['obo_exchange_failed', { server: 'server', code: 'OBO_MISCONFIGURED', ...said }]]);
  // As it is kept and shown again.
  expect(parseEventLine(formatEventLine(events[0] as AuditEvent, 1))).toMatchObject(said);
});

test('what was written down once, here or at another replica, is not again', () => {
  const { events, exchanged } = rig();
  exchanged({ source: 'cache', requests: 0 });
  exchanged({ source: 'memory', outcome: 'OBO_REJECTED', requests: 0 });
  expect(events).toEqual([]);
});

test('a user’s turn is no operator’s alarm', () => {
  for (const outcome of ['OBO_REJECTED', 'OBO_CONSENT_REQUIRED'] as const) {
    const { events, logged, exchanged } = rig();
    exchanged({ outcome });
    expect({ events, logged }).toMatchObject({ events: [{ outcome: 'refused', code: outcome }], logged: [] });
  }
});

test('who got nothing before anybody was asked', () => {
  const cases = [
    [new SubjectUnavailable('absent'), 'refused', 'OBO_SUBJECT_TOKEN_MISSING'],
    [new SubjectUnavailable('expired_no_refresh'), 'refused', 'OBO_SUBJECT_TOKEN_EXPIRED'],
    [new GatewayError('MCP_OBO_FORBIDDEN'), 'refused', 'MCP_OBO_FORBIDDEN'],
    [new Error('planted words'), 'failed', 'INTERNAL'],
  ] as const;
  for (const [error, outcome, code] of cases) {
    const { events, logged, record } = rig();
    record.recordRefused({ ...context, error });
    expect(events).toMatchObject([{ actor: { id: 'ada' }, server: 'server', outcome, code }]);
    expect(JSON.stringify([events, logged])).not.toContain('planted');
  }
});
