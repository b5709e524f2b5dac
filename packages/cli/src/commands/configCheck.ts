import type { Diagnostic } from '@behalf/contracts';
import { CliError } from '../cliError.ts';
import type { Command, Context } from '../command.ts';
import { clean } from '../output/clean.ts';

const DEFAULT_FILE = './librechat.yaml';

export const configCheck: Command = {
  path: ['config', 'check'],
  summary: 'says what is wrong with a configuration, without a gateway',
  arguments: [{ name: 'FILE', about: 'Default: CONFIG_PATH, else ./librechat.yaml.', optional: true }],
  options: [],
  notes: [
    'Each finding has its line, its path, the reason and, where it can be guessed, what was meant. Variables come from the',
    'environment and from .env, as for a gateway that is started here. What only the gateway can judge (addresses and',
    'certificate files) it says at its start.',
  ],
  async run({ given, io }) {
    // Only here: it is most of what the command would load.
    const { explain, loadSettings, withEnvFile } = await import('@behalf/settings');
    const env = withEnvFile(await io.readFile('.env').catch(() => undefined), io.env);
    const file = given.optional('FILE') ?? (env['CONFIG_PATH']?.trim() || DEFAULT_FILE);
    const loaded = loadSettings(await read(file, io), { env });
    const { ok } = loaded;
    const findings = ok ? loaded.warnings : loaded.diagnostics;
    const unused = ok ? loaded.unused : [];
    return {
      ending: ok ? 'ok' : 'failed',
      text: clean(textOf(file, ok, explain(findings, file), unused)),
      json: jsonOf(file, ok, findings, unused),
    };
  },
};

function textOf(file: string, ok: boolean, explained: string, unused: readonly string[]): string {
  const lines = [
    explained,
    ...(unused.length > 0 ? [`Known to LibreChat and without effect here: ${unused.join(', ')}`] : []),
    ok ? `${file} is valid.` : `${file} is not valid.`,
  ];
  return lines
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('');
}

function jsonOf(file: string, ok: boolean, findings: readonly Diagnostic[], unused: readonly string[]) {
  return ok ? { file, ok, warnings: findings, unused } : { file, ok, errors: findings };
}

async function read(file: string, io: Context['io']): Promise<string> {
  try {
    return await io.readFile(file);
  } catch {
    throw new CliError('usage', `${clean(file)} cannot be read.`, { code: 'file_unreadable' });
  }
}
