import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findProgram } from './system.ts';

describe('a program of the machine', () => {
  let dir = '';
  const program = (name: string) => {
    const path = join(dir, name);
    writeFileSync(path, '');
    chmodSync(path, 0o755);
    return path;
  };
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'behalf-programs-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('is the one the test run found, or none when it found none', () => {
    const redis = program('redis-server');
    const chromium = program('chromium');
    const named = program('named');
    expect(findProgram('redis-server', { PATH: `/nowhere::${dir}` })).toBe(redis);
    expect(findProgram('redis-server', { PATH: dir, BEHALF_TEST_REDIS: named })).toBe(named);
    expect(findProgram('redis-server', { PATH: dir, BEHALF_TEST_REDIS: '' })).toBeNull();
    expect(findProgram('chromium', { PATH: dir })).toBe(chromium);
    expect(findProgram('chromium', { PATH: dir, CHROMIUM_PATH: named })).toBe(named);
    expect(findProgram('chromium', { PATH: dir, CHROMIUM_PATH: '' })).toBe(chromium);
    const both = { PATH: dir, CHROMIUM_PATH: named, BEHALF_TEST_CHROMIUM: chromium };
    expect(findProgram('chromium', both)).toBe(chromium);
    expect(findProgram('chromium', { ...both, BEHALF_TEST_CHROMIUM: '' })).toBeNull();
  });

  test('that somebody chose and mistyped is missing, not replaced', () => {
    program('chromium');
    expect(findProgram('chromium', { PATH: dir, CHROMIUM_PATH: join(dir, 'mistyped') })).toBeNull();
    expect(findProgram('chromium', { PATH: dir, BEHALF_TEST_CHROMIUM: dir })).toBeNull();
  });
});
