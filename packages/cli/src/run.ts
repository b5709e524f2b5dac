import { CliError, getExitCode } from './cliError.ts';
import type { Command, Context } from './command.ts';
import { createGatewayClient, type GatewayClient } from './gateway/gatewayClient.ts';
import { formatCommandHelp, formatOverview } from './help.ts';
import type { Io } from './io.ts';
import { createStyle, formatJson, stripControls } from './output/terminal.ts';
import { parseCommandLine, type ParsedCommandLine } from './parse.ts';

/** Runs one command line and returns its exit code. Throws only on programming errors. */
export async function runCli(
  argv: readonly string[],
  commands: readonly Command[],
  io: Io,
  version: string,
): Promise<number> {
  const wantsJson = argv.includes('--json');
  try {
    const parsed = parseCommandLine(argv, commands);
    if (parsed.kind === 'version') io.out(`${version}\n`);
    else if (parsed.kind === 'help') io.out(formatHelp(parsed, commands));
    else {
      const context = createContext(parsed, io);
      const { exitStatus, text, json } = await parsed.command.run(context);
      io.out(wantsJson ? formatJson(json) : text);
      return getExitCode(exitStatus);
    }
    return getExitCode('ok');
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    printError(io, error, wantsJson);
    return getExitCode(error.exitStatus);
  }
}

function formatHelp(
  { command, group }: Extract<ParsedCommandLine, { kind: 'help' }>,
  commands: readonly Command[],
): string {
  return command ? formatCommandHelp(command) : formatOverview(commands, group);
}

function createContext({ input }: Extract<ParsedCommandLine, { kind: 'run' }>, io: Io): Context {
  let gateway: GatewayClient | undefined;
  const { dim } = createStyle(io.colors.err);
  return {
    input,
    io,
    style: createStyle(io.colors.out),
    progress: (text) => io.err(`${dim(stripControls(text))}\n`),
    gateway: () =>
      (gateway ??= createGatewayClient(io, { url: input.text('url'), insecure: input.flag('insecure') })),
  };
}

/** JSON output goes to standard output like a result. Text goes to standard error. */
function printError(io: Io, { message, detail }: CliError, wantsJson: boolean): void {
  const { code, action, problems } = detail;
  if (wantsJson) {
    io.out(
      formatJson({
        error: { message, ...(code && { code }), ...(action && { action }), ...(problems && { problems }) },
      }),
    );
    return;
  }
  const style = createStyle(io.colors.err);
  const lines = [
    style.bad(stripControls(message)),
    ...(problems ?? []).map((problem) => `  ${stripControls(problem)}`),
  ];
  io.err(`${[...lines, ...(action === undefined ? [] : [action])].join('\n')}\n`);
}
