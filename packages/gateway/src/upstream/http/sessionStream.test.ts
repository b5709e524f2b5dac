import { describe, expect, test } from '@jest/globals';
import { createFakeClock } from '@behalf/testkit';
import { createLegacySession, createSessionGetStream } from './session.ts';

function rig() {
  const clock = createFakeClock();
  const claims = {
    era: 'legacy' as const,
    ...{ protocolVersion: '2025-11-25', name: 's', version: '1' },
    ...{ instructions: undefined, capabilities: {} },
  };
  const session = createLegacySession({ sessionId: 's1', claims }, {});
  const tried: (() => void)[] = [];
  const log: string[] = [];
  const stream = createSessionGetStream({
    clock,
    current: () => session,
    open({ id }, onTried) {
      log.push(`open ${String(id)}`);
      tried.push(onTried);
      return () => void log.push(`stop ${String(id)}`);
    },
  });
  const call = () => stream.withStream(() => Promise.resolve(log.push('call')));
  return { clock, session, stream, tried, log, call };
}

describe('the stream of a session that a call needs', () => {
  test('it is open first, and closed half a minute after the last call', async () => {
    const { clock, tried, log, call } = rig();
    const first = call();
    await clock.advance(900);
    expect(log).toEqual(['open s1']);
    tried[0]!();
    await first;
    await clock.advance(20_000);
    await call();
    expect(log).toEqual(['open s1', 'call', 'call']);
    await clock.advance(29_000);
    expect(log).not.toContain('stop s1');
    await clock.advance(1_000);
    expect(log).toEqual(['open s1', 'call', 'call', 'stop s1']);
  });

  test('a server that does not answer holds nobody up for long', async () => {
    const { clock, log, call } = rig();
    const first = call();
    await clock.advance(1_000);
    await first;
    expect(log).toEqual(['open s1', 'call']);
    // And only who came first: what it has not answered by then it may never answer.
    await call();
    expect(log).toEqual(['open s1', 'call', 'call']);
  });

  test('there is none where none is offered, and after the end', async () => {
    const { session, stream, log, call } = rig();
    session.offersStream = false;
    await call();
    expect(log).toEqual(['call']);
    session.offersStream = true;
    stream.close();
    await call();
    stream.acquire()();
    expect(log).toEqual(['call', 'call']);
  });

  test('it stays for who listens, and follows the session', async () => {
    const { clock, session, stream, tried, log, call } = rig();
    const release = stream.acquire();
    tried[0]!();
    await call();
    stream.switchTo({ ...session, id: 's2' });
    await clock.advance(60_000);
    expect(log).toEqual(['open s1', 'call', 'stop s1', 'open s2']);
    release();
    release();
    expect(log.at(-1)).toBe('stop s2');
  });
});
