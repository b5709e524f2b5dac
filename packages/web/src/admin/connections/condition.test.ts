import { describe, expect, test } from '@jest/globals';
import type { LiveServer } from '../../api/admin.ts';
import { retryText, sortByCondition, toCondition } from './condition.ts';

const live = (facts: Partial<LiveServer>): LiveServer => ({
  ...{ server: 's', scope: 'app', users: 0, isBreakerOpen: false },
  ...facts,
});

describe('how a server is doing', () => {
  test('an open breaker counts before all else, a failure before success', () => {
    const connected = { state: 'connected' } as const;
    expect(toCondition(live({ ...connected, code: 'MCP_TIMEOUT', isBreakerOpen: true }))).toBe('breaker');
    expect(toCondition(live({ state: 'error', code: 'MCP_UNREACHABLE' }))).toBe('failing');
    expect(toCondition(live({ state: 'error' }))).toBe('failing');
    expect(toCondition(live({ scope: 'user', users: 3, code: 'OBO_REJECTED' }))).toBe('partly');
    expect(toCondition(live({ scope: 'user', code: 'OBO_REJECTED' }))).toBe('failing');
    expect(toCondition(live(connected))).toBe('connected');
    expect(toCondition(live({ scope: 'user', users: 1 }))).toBe('connected');
    expect(toCondition(live({ state: 'connecting' }))).toBe('connecting');
    expect(toCondition(live({ state: 'disconnected' }))).toBe('idle');
    expect(toCondition(live({ scope: 'user' }))).toBe('idle');
  });

  test('what needs somebody stands on top', () => {
    const servers = [
      live({ server: 'well', state: 'connected' }),
      live({ server: 'open', isBreakerOpen: true }),
      live({ server: 'b-fails', state: 'error' }),
      live({ server: 'a-fails', state: 'error' }),
    ];
    expect(sortByCondition(servers).map(({ server }) => server)).toEqual([
      'open',
      'a-fails',
      'b-fails',
      'well',
    ]);
  });

  test('says when it is tried again', () => {
    expect(retryText(61_000, 1_000)).toMatch(/in 60 s/);
    expect(retryText(1_200, 1_000)).toMatch(/in 1\.0 s/);
    expect(retryText(1_000, 1_000)).toMatch(/next call/);
  });
});
