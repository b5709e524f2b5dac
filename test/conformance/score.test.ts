import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  clientScenarios,
  selectServerScenarios,
  selectTaskScenarios,
  excuseKnownFailures,
  excuseAcrossEras,
  readResults,
  readServerResults,
  score,
  scoreChecks,
  type ScenarioResult,
} from './score.ts';

const check = (status: ScenarioResult['checks'][number]['status']) => ({
  id: 'a',
  status,
  description: 'said',
});
const well: ScenarioResult['clientResult'] = { refused: null };
const refused: ScenarioResult['clientResult'] = { refused: 'issuer_mismatch' };

/** What is wrong with a scenario that is due. */
function wrongWith(name: string, result: ScenarioResult | undefined): readonly string[] {
  const scenarios = [{ name, isScored: true, mustPass: true }];
  return score(scenarios, new Map(result && [[name, result]])).flatMap(({ failures }) => failures);
}

describe('the conformance score', () => {
  test('all that is scored is due, and our extensions', () => {
    const scenarios = clientScenarios({
      client: ['tools_call', 'auth/metadata-default'],
      server: ['ping'],
      not_scored: [
        { scenario: 'auth/client-credentials-jwt', leg: 'client' },
        { scenario: 'auth/dpop', leg: 'client' },
        { scenario: 'auth/wif-jwt-bearer', leg: 'client' },
        { scenario: 'tasks-lifecycle', leg: 'server' },
      ],
    });
    expect(scenarios).toEqual([
      { name: 'tools_call', isScored: true, mustPass: true },
      { name: 'auth/metadata-default', isScored: true, mustPass: true },
      { name: 'auth/client-credentials-jwt', isScored: false, mustPass: true },
      { name: 'auth/dpop', isScored: false, mustPass: true },
      { name: 'auth/wif-jwt-bearer', isScored: false, mustPass: false },
    ]);
  });

  test('a warning, or no result at all, is no pass', () => {
    const name = 'auth/metadata-default';
    expect(wrongWith(name, { checks: [check('SUCCESS'), check('INFO')], clientResult: well })).toEqual([]);
    expect(wrongWith(name, { checks: [check('FAILURE')], clientResult: well })).toEqual(['FAILURE a: said']);
    expect(wrongWith(name, { checks: [check('WARNING')], clientResult: well })).toEqual(['WARNING a: said']);
    expect(wrongWith(name, { checks: [check('SUCCESS')], clientResult: null })).toEqual(['It did not end']);
    expect(wrongWith(name, undefined)).toEqual(['It did not end']);
  });

  test('it must end as it is meant to end', () => {
    const checks = [check('SUCCESS')];
    expect(wrongWith('auth/metadata-default', { checks, clientResult: refused })).toHaveLength(1);
    expect(wrongWith('auth/iss-wrong-issuer', { checks, clientResult: refused })).toEqual([]);
    expect(wrongWith('auth/iss-wrong-issuer', { checks, clientResult: well })).toHaveLength(1);
    // There nothing but lists is answered.
    expect(wrongWith('request-metadata', { checks, clientResult: refused })).toEqual([]);
  });

  test('all that is scored of a server is due', () => {
    const not_scored = [
      { scenario: 'tasks-lifecycle', leg: 'server' },
      { scenario: 'tasks-status-notifications', leg: 'server' },
      { scenario: 'json-schema', leg: 'server' },
      { scenario: 'auth/dpop', leg: 'client' },
    ];
    expect(selectTaskScenarios({ client: [], server: ['ping'], not_scored })).toEqual([
      { name: 'tasks-lifecycle', isScored: false, mustPass: true },
    ]);
    const scenarios = selectServerScenarios({
      client: ['initialize'],
      server: ['ping', 'caching'],
      not_scored,
    });
    expect(scenarios).toEqual([
      { name: 'ping', isScored: true, mustPass: true },
      { name: 'caching', isScored: true, mustPass: true },
      { name: 'json-schema', isScored: false, mustPass: false },
    ]);
    const results = new Map([
      ['ping', { checks: [check('SUCCESS')], clientResult: null }],
      ['caching', { checks: [check('SUCCESS'), check('WARNING')], clientResult: null }],
    ]);
    expect(scoreChecks(scenarios, results).map(({ failures }) => failures)).toEqual([
      [],
      ['WARNING a: said'],
      ['It did not run'],
    ]);
  });

  test('forgiven is only what fails without the gateway too, and not often', () => {
    const createScore = (name: string, failures: string[], mustPass = true) => ({
      ...{ name, failures, mustPass, isScored: mustPass, passed: 0 },
    });
    const excused = (through: string[], direct: string[]) =>
      excuseKnownFailures(
        through.map((name) => createScore(name, ['x'])),
        direct.map((name) => createScore(name, ['x'])),
      ).flatMap(({ name, excuse: why }) => (why === undefined ? [] : [name]));
    expect(excused(['a', 'b'], ['b', 'c'])).toEqual(['b']);
    expect(excuseKnownFailures([createScore('a', ['x'])], [createScore('a', [])])[0]?.excuse).toBeUndefined();
    const many = ['a', 'b', 'c', 'd', 'e'];
    expect(excused(many, many)).toEqual(many);
    expect(excused([...many, 'f'], [...many, 'f'])).toEqual([]);
  });

  test('across the eras: what a legacy server has no words for, by the check', () => {
    const name = 'server-stateless';
    const beyond = 'FAILURE sep-2575-missing-capability-http-400: said';
    const excused = (failures: string[], server: 'legacy' | 'modern') =>
      excuseAcrossEras([{ name, failures, mustPass: true, isScored: true, passed: 0 }], server)[0]?.excuse !==
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
        ['auth/basic-cimd', { checks: [check('SUCCESS')], clientResult: { refused: null } }],
      ]);
      expect([...readServerResults(dir).keys()]).toEqual(['auth/basic-cimd']);
      expect(readResults(join(dir, 'absent')).size).toBe(0);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
