"""Small exercises for beginners, and how different people solve each.

They are in the subset of Python that `bench.dialects` translates: every value is an integer, a boolean or an
array, and `read`, `put`, `print` and `array` stand for what each language has.
"""

from __future__ import annotations

SOLUTIONS = {
    "fill": """
def fill(a: list[int], n: int) -> None:
    for i in range(n):
        put("Enter a number: ")
        a[i] = read()
---
def fill(a: list[int], n: int) -> None:
    count: int = 0
    while count < n:
        value: int = read()
        if value < 0:
            print("must not be negative")
            continue
        a[count] = value
        count += 1
---
def inside(x: int) -> bool:
    return x >= 0 and x <= 1000
def fill(a: list[int], n: int) -> None:
    position: int = 0
    while position < n:
        print("element", position + 1)
        a[position] = read()
        while not inside(a[position]):
            print("wrong, once more")
            a[position] = read()
        position += 1
---
def fill(a: list[int], n: int) -> None:
    seed: int = read()
    for i in range(n):
        seed = (seed * 1103 + 12345) % 65536
        a[i] = seed % 100
---
def fill(a: list[int], n: int) -> None:
    print("numbers, please")
    last: int = n - 1
    for i in range(last, -1, -1):
        x: int = read()
        a[last - i] = x
    print("thank you")
""",
    "show": """
def show(a: list[int], n: int) -> None:
    for i in range(n):
        put(a[i])
        put(" ")
    print("")
---
def show(a: list[int], n: int) -> None:
    put("[")
    for i in range(n):
        if i > 0:
            put(", ")
        put(a[i])
    print("]")
---
def show(a: list[int], n: int) -> None:
    if n == 0:
        print("nothing")
        return
    index: int = 0
    while index < n - 1:
        put(a[index])
        put("; ")
        index += 1
    print(a[n - 1])
---
def show(a: list[int], n: int) -> None:
    column: int = 0
    for i in range(n):
        put(a[i])
        column += 1
        if column == 10:
            print("")
            column = 0
        else:
            put(" ")
    if column != 0:
        print("")
---
def line(number: int, value: int) -> None:
    put(number)
    put(": ")
    print(value)
def show(a: list[int], n: int) -> None:
    for i in range(n):
        line(i + 1, a[i])
""",
    "sort": """
def sort(a: list[int], n: int) -> None:
    for i in range(n - 1):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                temp: int = a[j]
                a[j] = a[j + 1]
                a[j + 1] = temp
---
def lowest(a: list[int], start: int, n: int) -> int:
    where: int = start
    for k in range(start + 1, n):
        if a[k] < a[where]:
            where = k
    return where
def sort(a: list[int], n: int) -> None:
    for i in range(n):
        m: int = lowest(a, i, n)
        if m != i:
            temp: int = a[m]
            a[m] = a[i]
            a[i] = temp
---
def sort(a: list[int], n: int) -> None:
    for i in range(1, n):
        key: int = a[i]
        j: int = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
---
def exchange(a: list[int], i: int, j: int) -> None:
    temp: int = a[i]
    a[i] = a[j]
    a[j] = temp
def quick(a: list[int], low: int, high: int) -> None:
    if low >= high:
        return
    pivot: int = a[(low + high) // 2]
    i: int = low
    j: int = high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            exchange(a, i, j)
            i += 1
            j -= 1
    quick(a, low, j)
    quick(a, i, high)
def sort(a: list[int], n: int) -> None:
    quick(a, 0, n - 1)
---
def sort(a: list[int], n: int) -> None:
    counts: list[int] = array(1001)
    for i in range(n):
        counts[a[i]] += 1
    at: int = 0
    for value in range(1001):
        while counts[value] > 0:
            a[at] = value
            at += 1
            counts[value] -= 1
""",
    "largest": """
def largest(a: list[int], n: int) -> int:
    best: int = a[0]
    for i in range(1, n):
        if a[i] > best:
            best = a[i]
    return best
---
def larger(x: int, y: int) -> int:
    if x > y:
        return x
    return y
def largest(a: list[int], n: int) -> int:
    if n == 1:
        return a[0]
    return larger(a[n - 1], largest(a, n - 1))
---
def largest(a: list[int], n: int) -> int:
    where: int = 0
    i: int = n - 1
    while i > 0:
        if a[where] <= a[i]:
            where = i
        i -= 1
    return a[where]
---
def largest(a: list[int], n: int) -> int:
    for i in range(n):
        beaten: bool = False
        for j in range(n):
            if a[j] > a[i]:
                beaten = True
                break
        if not beaten:
            return a[i]
    return -1
""",
    "mean": """
def mean(a: list[int], n: int) -> int:
    total: int = 0
    for i in range(n):
        total += a[i]
    return total // n
---
def add(a: list[int], low: int, high: int) -> int:
    if low > high:
        return 0
    middle: int = (low + high) // 2
    return a[middle] + add(a, low, middle - 1) + add(a, middle + 1, high)
def mean(a: list[int], n: int) -> int:
    if n == 0:
        return 0
    return add(a, 0, n - 1) // n
---
def mean(a: list[int], n: int) -> int:
    result: int = 0
    rest: int = 0
    i: int = 0
    while i < n:
        result += a[i] // n
        rest += a[i] % n
        i += 1
    return result + rest // n
---
def mean(a: list[int], n: int) -> int:
    if n < 1:
        print("no numbers")
        return -1
    total: int = a[n - 1]
    number: int = 1
    for k in range(n - 2, -1, -1):
        total = a[k] + total
        number += 1
    answer: int = total // number
    return answer
""",
    "mode": """
def mode(a: list[int], n: int) -> int:
    best: int = a[0]
    most: int = 0
    for i in range(n):
        count: int = 0
        for j in range(n):
            if a[j] == a[i]:
                count += 1
        if count > most:
            most = count
            best = a[i]
    return best
---
def mode(a: list[int], n: int) -> int:
    table: list[int] = array(1001)
    winner: int = 0
    for i in range(n):
        table[a[i]] = table[a[i]] + 1
        if table[a[i]] > table[winner]:
            winner = a[i]
    return winner
---
def occurrences(a: list[int], n: int, x: int) -> int:
    result: int = 0
    while n > 0:
        n -= 1
        if a[n] == x:
            result += 1
    return result
def mode(a: list[int], n: int) -> int:
    at: int = 0
    for i in range(1, n):
        if occurrences(a, n, a[i]) > occurrences(a, n, a[at]):
            at = i
    return a[at]
---
def mode(a: list[int], n: int) -> int:
    i: int = 0
    answer: int = -1
    longest: int = 0
    while i < n:
        left: int = 1
        k: int = i + 1
        while k < n:
            if not a[k] != a[i]:
                left += 1
            k += 1
        if left > longest:
            answer = a[i]
            longest = left
        if longest > n - i:
            return answer
        i += 1
    return answer
""",
}
