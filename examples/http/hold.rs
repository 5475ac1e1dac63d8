// Holds a lock with Rust's standard library: rustc hold.rs && ./hold HOST:PORT NAME
// It has no client for HTTP; this much of it is enough without TLS.
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;

/// A lock that is held until it is dropped.
struct Hold {
    token: u64, // give it to every write
    sent: Instant, // all times count from here
    valid_ms: Arc<AtomicU64>,
    stream: TcpStream,
}

fn number_after(line: &str, key: &str) -> Option<u64> {
    let rest = &line[line.find(key)? + key.len()..];
    let digits = rest.trim_start_matches('"');
    digits.split(|each: char| !each.is_ascii_digit()).next()?.parse().ok()
}

impl Hold {
    fn acquire(address: &str, name: &str) -> io::Result<Hold> {
        let sent = Instant::now();
        let mut stream = TcpStream::connect(address)?;
        write!(
            stream,
            "GET /v1/hold/{name}?label=hold.rs HTTP/1.1\r\n\
             Host: {address}\r\nMortise-Http: 1\r\n\r\n"
        )?;
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let granted = loop {
            let line = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
            if line.starts_with('{') {
                break line;
            }
        };
        let refused = || io::Error::new(io::ErrorKind::Other, granted.clone());
        let token = number_after(&granted, "\"token\":").ok_or_else(refused)?;
        let first = number_after(&granted, "\"valid_ms\":").ok_or_else(refused)?;
        let valid_ms = Arc::new(AtomicU64::new(first));
        let told = valid_ms.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok).take_while(|line| line.contains("\"alive\"")) {
                told.store(number_after(&line, "\"valid_ms\":").unwrap_or(0), Ordering::Relaxed);
            }
            told.store(0, Ordering::Relaxed); // lost, or closed: whatever ended the lines
        });
        Ok(Hold { token, sent, valid_ms, stream })
    }

    fn is_valid(&self) -> bool {
        (self.sent.elapsed().as_millis() as u64) < self.valid_ms.load(Ordering::Relaxed)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    {
        let hold = Hold::acquire(&words[1], &words[2])?;
        println!("token {}", hold.token);
        if hold.is_valid() {
            println!("work, with the token");
        }
    }
    println!("released");
    Ok(())
}
