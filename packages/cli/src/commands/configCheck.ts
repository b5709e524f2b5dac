import type { Diagnostic } from '@behalf/contracts';
import { CliError } from '../cliError.ts';
import type { Command, Context } from '../command.ts';
import { stripControls } from '../output/terminal.ts';

const DEFAULT_FILE = './librechat.yaml';

export const configCheck: Command = {
  path: ['config', 'check'],
  summary: 'checks a configuration file, without a gateway',
  arguments: [{ name: 'FILE', description: 'Default: CONFIG_PATH, else ./librechat.yaml.', optional: true }],
  options: [],
  notes: [
    'Each finding has its line, its path, the reason and, if possible, a suggestion. Variables come from the',
    'environment and from .env, as for a gateway that is started here. Addresses and',
    'certificate files are checked only when a gateway starts.',
  ],
  async run({ input, io }) {
    // Imported here, because it is most of the code that the CLI would load.
    const {
      formatDiagnostics: explain,
      loadSettings,
      mergeEnvFile: withEnvFile,
    } = await import('@behalf/settings');
    const env = withEnvFile(await io.readFile('.env').catch(() => undefined), io.env);
    const file = input.optional('FILE') ?? (env['CONFIG_PATH']?.trim() || DEFAULT_FILE);
    const loaded = loadSettings(await readConfigFile(file, io), { env });
    const { ok } = loaded;
    const findings = ok ? loaded.warnings : loaded.diagnostics;
    const unused = ok ? loaded.unused : [];
    return {
      exitStatus: ok ? 'ok' : 'failed',
      text: stripControls(formatText(file, ok, explain(findings, file), unused)),
      json: toJson(file, ok, findings, unused),
    };
  },
};

function formatText(file: string, ok: boolean, diagnosticsText: string, unused: readonly string[]): string {
  const lines = [
    diagnosticsText,
    ...(unused.length > 0 ? [`LibreChat keys without effect here: ${unused.join(', ')}`] : []),
    ok ? `${file} is valid.` : `${file} is not valid.`,
  ];
  return lines
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('');
}

function toJson(file: string, ok: boolean, findings: readonly Diagnostic[], unused: readonly string[]) {
  return ok ? { file, ok, warnings: findings, unused } : { file, ok, errors: findings };
}

async function readConfigFile(file: string, io: Context['io']): Promise<string> {
  try {
    return await io.readFile(file);
  } catch {
    throw new CliError('usage', `${stripControls(file)} cannot be read.`, { code: 'file_unreadable' });
  }
}
