import { CliError } from './cliError.ts';
import type { Command, Context } from './command.ts';
import { exitCode } from './exitCodes.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { commandHelp, overview } from './help.ts';
import type { Io } from './io.ts';
import { clean, jsonText } from './output/clean.ts';
import { createStyle } from './output/style.ts';
import { parse, type Parsed } from './parse.ts';

/** One command line, from its words to its exit code. Never throws what a person could have mended. */
export async function run(
  argv: readonly string[],
  commands: readonly Command[],
  io: Io,
  version: string,
): Promise<number> {
  const wantsJson = argv.includes('--json');
  try {
    const parsed = parse(argv, commands);
    if (parsed.kind === 'version') io.out(`${version}\n`);
    else if (parsed.kind === 'help') io.out(helpOf(parsed, commands));
    else {
      const context = contextOf(parsed, io);
      const { ending, text, json } = await parsed.command.run(context);
      io.out(wantsJson ? jsonText(json) : text);
      return exitCode(ending);
    }
    return exitCode('ok');
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    tell(io, error, wantsJson);
    return exitCode(error.ending);
  }
}

function helpOf({ command, group }: Extract<Parsed, { kind: 'help' }>, commands: readonly Command[]): string {
  return command ? commandHelp(command) : overview(commands, group);
}

function contextOf({ given }: Extract<Parsed, { kind: 'run' }>, io: Io): Context {
  let gateway: Gateway | undefined;
  const { dim } = createStyle(io.colours.err);
  return {
    given,
    io,
    style: createStyle(io.colours.out),
    progress: (text) => io.err(`${dim(clean(text))}\n`),
    gateway: () =>
      (gateway ??= createGateway(io, { url: given.text('url'), insecure: given.flag('insecure') })),
  };
}

/** For a program it is a document like any other; people read it beside what was printed before. */
function tell(io: Io, { message, detail }: CliError, wantsJson: boolean): void {
  const { code, action, problems } = detail;
  if (wantsJson) {
    io.out(
      jsonText({
        error: { message, ...(code && { code }), ...(action && { action }), ...(problems && { problems }) },
      }),
    );
    return;
  }
  const style = createStyle(io.colours.err);
  const lines = [style.bad(clean(message)), ...(problems ?? []).map((one) => `  ${clean(one)}`)];
  io.err(`${[...lines, ...(action === undefined ? [] : [action])].join('\n')}\n`);
}
