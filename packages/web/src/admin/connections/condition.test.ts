import { describe, expect, test } from '@jest/globals';
import type { LiveServer } from '../../api/admin.ts';
import { conditionOf, worstFirst } from './condition.ts';
import { retryWords } from './retryWords.ts';

const live = (facts: Partial<LiveServer>): LiveServer => ({
  ...{ server: 's', scope: 'app', users: 0, isBreakerOpen: false },
  ...facts,
});

describe('how a server is doing', () => {
  test('an open breaker counts before all else, a failure before success', () => {
    const connected = { state: 'connected' } as const;
    expect(conditionOf(live({ ...connected, code: 'MCP_TIMEOUT', isBreakerOpen: true }))).toBe('breaker');
    expect(conditionOf(live({ state: 'error', code: 'MCP_UNREACHABLE' }))).toBe('failing');
    expect(conditionOf(live({ state: 'error' }))).toBe('failing');
    expect(conditionOf(live({ scope: 'user', users: 3, code: 'OBO_REJECTED' }))).toBe('partly');
    expect(conditionOf(live({ scope: 'user', code: 'OBO_REJECTED' }))).toBe('failing');
    expect(conditionOf(live(connected))).toBe('connected');
    expect(conditionOf(live({ scope: 'user', users: 1 }))).toBe('connected');
    expect(conditionOf(live({ state: 'connecting' }))).toBe('connecting');
    expect(conditionOf(live({ state: 'disconnected' }))).toBe('idle');
    expect(conditionOf(live({ scope: 'user' }))).toBe('idle');
  });

  test('what needs somebody stands on top', () => {
    const servers = [
      live({ server: 'well', state: 'connected' }),
      live({ server: 'open', isBreakerOpen: true }),
      live({ server: 'b-fails', state: 'error' }),
      live({ server: 'a-fails', state: 'error' }),
    ];
    expect(worstFirst(servers).map(({ server }) => server)).toEqual(['open', 'a-fails', 'b-fails', 'well']);
  });

  test('says when it is tried again', () => {
    expect(retryWords(61_000, 1_000)).toMatch(/in 60 s/);
    expect(retryWords(1_200, 1_000)).toMatch(/in 1\.0 s/);
    expect(retryWords(1_000, 1_000)).toMatch(/next call/);
  });
});
