import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  askedOf,
  askedOfServer,
  askedOfTasks,
  excuse,
  excuseAcross,
  readResults,
  readServerResults,
  score,
  scoreChecks,
  type Result,
} from './score.ts';

const check = (status: Result['checks'][number]['status']) => ({ id: 'a', status, description: 'said' });
const well: Result['end'] = { refused: null };
const refused: Result['end'] = { refused: 'issuer_mismatch' };

/** What is wrong with a scenario that is due. */
function wrongWith(name: string, result: Result | undefined): readonly string[] {
  const asked = [{ name, isScored: true, isDue: true }];
  return score(asked, new Map(result && [[name, result]])).flatMap(({ wrong }) => wrong);
}

describe('the conformance score', () => {
  test('all that is scored is due, and our extensions', () => {
    const asked = askedOf({
      client: ['tools_call', 'auth/metadata-default'],
      server: ['ping'],
      not_scored: [
        { scenario: 'auth/client-credentials-jwt', leg: 'client' },
        { scenario: 'auth/dpop', leg: 'client' },
        { scenario: 'auth/wif-jwt-bearer', leg: 'client' },
        { scenario: 'tasks-lifecycle', leg: 'server' },
      ],
    });
    expect(asked).toEqual([
      { name: 'tools_call', isScored: true, isDue: true },
      { name: 'auth/metadata-default', isScored: true, isDue: true },
      { name: 'auth/client-credentials-jwt', isScored: false, isDue: true },
      { name: 'auth/dpop', isScored: false, isDue: true },
      { name: 'auth/wif-jwt-bearer', isScored: false, isDue: false },
    ]);
  });

  test('a warning, or no result at all, is no pass', () => {
    const name = 'auth/metadata-default';
    expect(wrongWith(name, { checks: [check('SUCCESS'), check('INFO')], end: well })).toEqual([]);
    expect(wrongWith(name, { checks: [check('FAILURE')], end: well })).toEqual(['FAILURE a: said']);
    expect(wrongWith(name, { checks: [check('WARNING')], end: well })).toEqual(['WARNING a: said']);
    expect(wrongWith(name, { checks: [check('SUCCESS')], end: null })).toEqual(['It did not end']);
    expect(wrongWith(name, undefined)).toEqual(['It did not end']);
  });

  test('it must end as it is meant to end', () => {
    const checks = [check('SUCCESS')];
    expect(wrongWith('auth/metadata-default', { checks, end: refused })).toHaveLength(1);
    expect(wrongWith('auth/iss-wrong-issuer', { checks, end: refused })).toEqual([]);
    expect(wrongWith('auth/iss-wrong-issuer', { checks, end: well })).toHaveLength(1);
    // There nothing but lists is answered.
    expect(wrongWith('request-metadata', { checks, end: refused })).toEqual([]);
  });

  test('all that is scored of a server is due', () => {
    const not_scored = [
      { scenario: 'tasks-lifecycle', leg: 'server' },
      { scenario: 'tasks-status-notifications', leg: 'server' },
      { scenario: 'json-schema', leg: 'server' },
      { scenario: 'auth/dpop', leg: 'client' },
    ];
    expect(askedOfTasks({ client: [], server: ['ping'], not_scored })).toEqual([
      { name: 'tasks-lifecycle', isScored: false, isDue: true },
    ]);
    const asked = askedOfServer({ client: ['initialize'], server: ['ping', 'caching'], not_scored });
    expect(asked).toEqual([
      { name: 'ping', isScored: true, isDue: true },
      { name: 'caching', isScored: true, isDue: true },
      { name: 'json-schema', isScored: false, isDue: false },
    ]);
    const results = new Map([
      ['ping', { checks: [check('SUCCESS')], end: null }],
      ['caching', { checks: [check('SUCCESS'), check('WARNING')], end: null }],
    ]);
    expect(scoreChecks(asked, results).map(({ wrong }) => wrong)).toEqual([
      [],
      ['WARNING a: said'],
      ['It did not run'],
    ]);
  });

  test('forgiven is only what fails without the gateway too, and not often', () => {
    const verdict = (name: string, wrong: string[], isDue = true) => ({
      ...{ name, wrong, isDue, isScored: isDue, passed: 0 },
    });
    const excused = (through: string[], direct: string[]) =>
      excuse(
        through.map((name) => verdict(name, ['x'])),
        direct.map((name) => verdict(name, ['x'])),
      ).flatMap(({ name, excuse: why }) => (why === undefined ? [] : [name]));
    expect(excused(['a', 'b'], ['b', 'c'])).toEqual(['b']);
    expect(excuse([verdict('a', ['x'])], [verdict('a', [])])[0]?.excuse).toBeUndefined();
    const many = ['a', 'b', 'c', 'd', 'e'];
    expect(excused(many, many)).toEqual(many);
    expect(excused([...many, 'f'], [...many, 'f'])).toEqual([]);
  });

  test('across the eras: what a legacy server has no words for, by the check', () => {
    const name = 'server-stateless';
    const beyond = 'FAILURE sep-2575-missing-capability-http-400: said';
    const excused = (wrong: string[], server: 'legacy' | 'modern') =>
      excuseAcross([{ name, wrong, isDue: true, isScored: true, passed: 0 }], server)[0]?.excuse !==
      undefined;
    expect([excused([beyond], 'legacy'), excused([beyond], 'modern')]).toEqual([true, false]);
    expect(excused([beyond, 'FAILURE a: said'], 'legacy')).toBe(false);
    expect(excused([], 'legacy')).toBe(false);
  });

  test('results are found by the name of their scenario', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'behalf-score-'));
    try {
      const folder = join(dir, 'auth/basic-cimd-2026-11-16T20-17-11-695Z');
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'checks.json'), JSON.stringify([check('SUCCESS')]));
      await writeFile(join(folder, 'stdout.txt'), '{"refused":null}\n');
      expect([...readResults(dir)]).toEqual([
        ['auth/basic-cimd', { checks: [check('SUCCESS')], end: { refused: null } }],
      ]);
      expect([...readServerResults(dir).keys()]).toEqual(['auth/basic-cimd']);
      expect(readResults(join(dir, 'absent')).size).toBe(0);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
