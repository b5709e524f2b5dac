import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { Config, errorCodes, envVariables } from '@behalf/contracts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

describe('what is generated', () => {
  test('schema, references and .env.example are what the sources say', () => {
    // Throws, with the names of the files, when one differs.
    execFileSync(process.execPath, ['--import', './tools/ts-loader.mjs', 'tools/generate.ts', '--check'], {
      cwd: root,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  });

  test('every variable, error code and top-level key is described', () => {
    const read = (path: string) => readFileSync(root + path, 'utf8');
    const [example, environment, errors, config] = [
      '.env.example',
      'docs/reference/environment.md',
      'docs/reference/errors.md',
      'docs/reference/config.md',
    ].map(read);
    for (const name of Object.keys(envVariables)) {
      expect(example).toContain(`# ${name}=`);
      expect(environment).toContain(`\`${name}\``);
    }
    for (const code of errorCodes) expect(errors).toContain(`\`${code}\``);
    for (const key of Object.keys(Config.shape)) expect(config).toContain(`\`${key}\``);
  });
});
