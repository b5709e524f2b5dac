/** Everything of the outside that commands touch. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output: what was asked for, and nothing else. */
  out(text: string): void;
  /** Standard error: what goes on meanwhile. */
  err(text: string): void;
  readStdin(): Promise<string>;
  readFile(path: string): Promise<string>;
  /** Whether somebody sits there who can be asked. */
  readonly isInteractive: boolean;
  readonly colors: { readonly out: boolean; readonly err: boolean };
  /** A line that is typed in. */
  prompt(question: string): Promise<string>;
  /** False where there is no browser that could be opened. */
  openBrowser(url: string): Promise<boolean>;
  readonly fetch: typeof fetch;
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Aborts on Ctrl-C. */
  readonly interruptSignal: AbortSignal;
}
