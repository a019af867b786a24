/**
 * A process and everything below it, read from `/proc`: memory as PSS, which shares out what several processes map, and CPU time. Ends whole
 * trees by pid. Linux only.
 */

/** The pids of a process and its descendants that still exist. */
export function tree(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const { name } of Deno.readDirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (parent === undefined) continue;
    children.set(parent, [...children.get(parent) ?? [], Number(name)]);
  }
  const found: number[] = [];
  const visit = (each: number) => {
    found.push(each);
    children.get(each)?.forEach(visit);
  };
  visit(pid);
  return found;
}

/** Proportional set size of the whole tree, in MiB. */
export function pssMiB(pid: number): number {
  let kib = 0;
  for (const each of tree(pid)) {
    kib += Number(/^Pss: +(\d+)/m.exec(readProc(`${each}/smaps_rollup`) ?? "")?.[1] ?? 0);
  }
  return kib / 1_024;
}

/** User and system time of the whole tree, in seconds. */
export function cpuSeconds(pid: number): number {
  let ticks = 0;
  for (const each of tree(pid)) {
    const fields = fieldsOf(each);
    ticks += Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
  }
  return ticks / 100;
}

/** SIGKILL to every process of the tree. */
export function killTree(pid: number): void {
  for (const each of tree(pid)) {
    try {
      Deno.kill(each, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

function parentOf(pid: number): number | undefined {
  const field = fieldsOf(pid)?.[1];
  return field === undefined ? undefined : Number(field);
}

/** The fields of `stat` after the command's name, which may hold spaces. */
function fieldsOf(pid: number): string[] | undefined {
  const stat = readProc(`${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readProc(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(`/proc/${path}`);
  } catch {
    return undefined;
  }
}
